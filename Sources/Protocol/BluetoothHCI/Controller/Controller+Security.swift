import BluetoothSupport

/// Encryption of links, and what the controller computes for its host.
///
/// Source: Core Specification, Vol 4, Part E, 7.8.22 to 7.8.26.
extension Controller {
    func encrypt(_ cursor: inout ByteCursor) throws(HCIStatus) -> [UInt8] {
        let key = try cursor.takeKey()
        let block = try cursor.takeKey()
        return configuration.cipher(key, block).reversed()
    }

    mutating func random() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(littleEndian: generator.next())
        return bytes
    }

    mutating func enableEncryption(_ cursor: inout ByteCursor) throws(HCIStatus) {
        let (handle, link) = try link(&cursor)
        let random = try cursor.take(UInt64.self)
        let diversifier = try cursor.take(UInt16.self)
        let key = try cursor.takeKey()
        guard link.isCentral, !link.isChangingEncryption else { throw .commandDisallowed }
        state.links[handle]?.isChangingEncryption = true
        output.commands.append(.encrypt(handle: handle, key: key, random: random, diversifier: diversifier))
    }

    /// Handles the wish of the central to encrypt; a host that does not want the event has no key.
    mutating func requestKey(_ handle: UInt16, _ random: UInt64, _ diversifier: UInt16) {
        guard state.links[handle] != nil else { return }
        guard state.eventMask.allows(.longTermKeyRequest) else {
            return output.commands.append(.answerKeyRequest(handle: handle, key: nil))
        }
        state.links[handle]?.isKeyRequested = true
        var parameters = handle.bytes
        parameters.append(littleEndian: random)
        parameters.append(littleEndian: diversifier)
        send(.longTermKeyRequest, parameters)
    }

    mutating func replyToKeyRequest(_ cursor: inout ByteCursor) throws(HCIStatus) {
        let handle = try requestedKey(&cursor)
        let key = try cursor.takeKey()
        state.links[handle]?.isKeyRequested = false
        output.commands.append(.answerKeyRequest(handle: handle, key: key))
    }

    mutating func rejectKeyRequest(_ cursor: inout ByteCursor) throws(HCIStatus) {
        let handle = try requestedKey(&cursor)
        state.links[handle]?.isKeyRequested = false
        output.commands.append(.answerKeyRequest(handle: handle, key: nil))
    }

    private func requestedKey(_ cursor: inout ByteCursor) throws(HCIStatus) -> UInt16 {
        let (handle, link) = try link(&cursor)
        guard link.isKeyRequested else { throw .commandDisallowed }
        return handle
    }

    /// Handles the end of the procedure, in either role.
    mutating func changeEncryption(_ handle: UInt16, _ status: UInt8) {
        guard let link = state.links[handle] else { return }
        state.links[handle]?.isChangingEncryption = false
        state.links[handle]?.isKeyRequested = false
        if link.isEncrypted {
            send(.encryptionKeyRefreshComplete, [status] + handle.bytes)
        } else {
            state.links[handle]?.isEncrypted = status == 0
            // On, with AES-CCM.
            send(.encryptionChange, [status] + handle.bytes + [status == 0 ? 1 : 0])
        }
    }
}
