/// Procedures of links.
///
/// Source: Core Specification, Vol 4, Part E, 7.1.23, 7.5.4, 7.8.18 to 7.8.21, 7.8.24 to 7.8.26, 7.8.31 to 7.8.34 and
/// 7.8.47 to 7.8.49.
extension Controller {
    // MARK: Parameters

    mutating func updateConnection(_ cursor: inout ByteCursor) throws(HCIStatus) {
        let (handle, link) = try link(&cursor)
        let parameters = try cursor.readConnectionParameters()
        try cursor.skipEventLengths()
        guard !link.procedures.contains(.parameterUpdate) else { throw .commandDisallowed }
        state.links[handle]?.procedures.insert(.parameterUpdate)
        output.commands.append(.updateParameters(handle: handle, parameters))
    }

    /// Handles an update: the host that did not ask gets only what changes.
    mutating func changeParameters(_ handle: UInt16, _ status: UInt8, _ parameters: HCIConnectionParameters) {
        guard let link = state.links[handle] else { return }
        state.links[handle]?.procedures.remove(.parameterUpdate)
        if status == 0 { state.links[handle]?.parameters = parameters }
        let isChange = status == 0 && parameters != link.parameters
        guard isChange || link.procedures.contains(.parameterUpdate) else { return }
        send(.connectionUpdateComplete, [status] + handle.bytes + parameters.bytes)
    }

    mutating func requestParameters(_ handle: UInt16, _ parameters: HCIConnectionParameters) {
        guard state.links[handle] != nil else { return }
        guard state.eventMask.allows(.remoteConnectionParameterRequest) else {
            return output.commands.append(.answerParametersRequest(handle: handle, nil))
        }
        state.links[handle]?.procedures.insert(.parameterRequest)
        // The shortest and the longest interval are the same.
        send(.remoteConnectionParameterRequest, handle.bytes + parameters.bytes.prefix(2) + parameters.bytes)
    }

    mutating func acceptParameters(_ cursor: inout ByteCursor) throws(HCIStatus) {
        let (handle, link) = try link(&cursor)
        let parameters = try cursor.readConnectionParameters()
        try cursor.skipEventLengths()
        guard link.procedures.contains(.parameterRequest) else { throw .commandDisallowed }
        state.links[handle]?.procedures.remove(.parameterRequest)
        output.commands.append(.answerParametersRequest(handle: handle, parameters))
    }

    mutating func rejectParameters(_ cursor: inout ByteCursor) throws(HCIStatus) {
        let (handle, link) = try link(&cursor)
        // The reason, which is Unacceptable Connection Parameters to the other end.
        _ = try cursor.read(UInt8.self)
        guard link.procedures.contains(.parameterRequest) else { throw .commandDisallowed }
        state.links[handle]?.procedures.remove(.parameterRequest)
        output.commands.append(.answerParametersRequest(handle: handle, nil))
    }

    // MARK: The other end

    mutating func readRemoteFeatures(_ cursor: inout ByteCursor) throws(HCIStatus) {
        let handle = try link(&cursor).handle
        send(
            .readRemoteFeaturesComplete,
            [HCIStatus.success.rawValue] + handle.bytes + LocalInformation.lowEnergyFeatures)
    }

    mutating func readRemoteVersion(_ cursor: inout ByteCursor) throws(HCIStatus) {
        let handle = try link(&cursor).handle
        // Without the revision of HCI.
        send(
            .readRemoteVersionComplete,
            [HCIStatus.success.rawValue] + handle.bytes + LocalInformation.version.suffix(3)
                + LocalInformation.subversion)
    }

    // MARK: Signal, channels and data length

    mutating func readSignalStrength(_ cursor: inout ByteCursor) throws(HCIStatus) {
        let (handle, link) = try link(&cursor)
        guard !link.procedures.contains(.signalStrength) else { throw .commandDisallowed }
        state.links[handle]?.procedures.insert(.signalStrength)
        output.commands.append(.readSignalStrength(handle: handle))
    }

    mutating func reportSignalStrength(_ handle: UInt16, _ strength: Int8) {
        guard state.links[handle]?.procedures.remove(.signalStrength) != nil else { return }
        answerSignalStrength(handle, .success, strength)
    }

    mutating func answerSignalStrength(_ handle: UInt16, _ status: HCIStatus, _ strength: Int8) {
        output.packets.append(
            Self.commandComplete(
                HCICommand.readRSSI.rawValue, [status.rawValue] + handle.bytes + [UInt8(bitPattern: strength)]))
    }

    mutating func setChannelClassification(_ cursor: inout ByteCursor) throws(HCIStatus) {
        let map = UInt64(try cursor.read(UInt32.self)) | UInt64(try cursor.read(UInt8.self)) << 32
        guard map & ~LinkDefaults.allChannels == 0, map != 0 else { throw .invalidCommandParameters }
        state.linkDefaults.channelMap = map
    }

    func readChannelMap(_ cursor: inout ByteCursor) throws(HCIStatus) -> [UInt8] {
        // The central chooses the map.
        let map = try link(&cursor).link.isCentral ? state.linkDefaults.channelMap : LinkDefaults.allChannels
        return (0..<5).map { UInt8(truncatingIfNeeded: map >> (8 * $0)) }
    }

    mutating func setDataLength(_ cursor: inout ByteCursor) throws(HCIStatus) {
        let handle = try link(&cursor).handle
        changeDataLength(handle, try DataLength(&cursor))
    }

    mutating func changeDataLength(_ handle: UInt16, _ length: DataLength) {
        guard let link = state.links[handle], link.dataLength != length else { return }
        state.links[handle]?.dataLength = length
        send(.dataLengthChange, handle.bytes + length.bytes + DataLength.remote.bytes)
    }

    func readTransmitPowerLevel(_ cursor: inout ByteCursor) throws(HCIStatus) -> [UInt8] {
        _ = try link(&cursor)
        // The current level, or the maximum: the same.
        _ = try cursor.read(in: UInt8(0)...1)
        return [LocalInformation.maximumTransmitPower]
    }

    func readPHY(_ cursor: inout ByteCursor) throws(HCIStatus) -> [UInt8] { try link(&cursor).link.phys.bytes }

    mutating func setPHY(_ cursor: inout ByteCursor) throws(HCIStatus) {
        let (handle, link) = try link(&cursor)
        let preference = try PHYPreference(&cursor)
        // The coding of coded PHY, which the Link Layer chooses.
        _ = try cursor.read(UInt16.self)
        changePHYs(handle, preference.fastest(link.phys))
    }

    mutating func changePHYs(_ handle: UInt16, _ phys: PHYs) {
        state.links[handle]?.phys = phys
        send(.phyUpdateComplete, [HCIStatus.success.rawValue] + handle.bytes + phys.bytes)
    }

    // MARK: Encryption

    mutating func enableEncryption(_ cursor: inout ByteCursor) throws(HCIStatus) {
        let (handle, link) = try link(&cursor)
        let random = try cursor.read(UInt64.self)
        let diversifier = try cursor.read(UInt16.self)
        let key = try cursor.readKey()
        guard link.isCentral, !link.procedures.contains(.encryption) else { throw .commandDisallowed }
        state.links[handle]?.procedures.insert(.encryption)
        output.commands.append(.encrypt(handle: handle, key: key, random: random, diversifier: diversifier))
    }

    /// Handles the request of the central; a host that does not want the event has no key.
    mutating func requestKey(_ handle: UInt16, _ random: UInt64, _ diversifier: UInt16) {
        guard state.links[handle] != nil else { return }
        guard state.eventMask.allows(.longTermKeyRequest) else {
            return output.commands.append(.answerKeyRequest(handle: handle, key: nil))
        }
        state.links[handle]?.procedures.insert(.keyRequest)
        send(.longTermKeyRequest, handle.bytes + random.bytes + diversifier.bytes)
    }

    mutating func replyToKeyRequest(_ cursor: inout ByteCursor) throws(HCIStatus) {
        let handle = try requestedKey(&cursor)
        let key = try cursor.readKey()
        state.links[handle]?.procedures.remove(.keyRequest)
        output.commands.append(.answerKeyRequest(handle: handle, key: key))
    }

    mutating func rejectKeyRequest(_ cursor: inout ByteCursor) throws(HCIStatus) {
        let handle = try requestedKey(&cursor)
        state.links[handle]?.procedures.remove(.keyRequest)
        output.commands.append(.answerKeyRequest(handle: handle, key: nil))
    }

    private func requestedKey(_ cursor: inout ByteCursor) throws(HCIStatus) -> UInt16 {
        let (handle, link) = try link(&cursor)
        guard link.procedures.contains(.keyRequest) else { throw .commandDisallowed }
        return handle
    }

    /// Handles the end of the procedure, in either role.
    mutating func changeEncryption(_ handle: UInt16, _ status: UInt8) {
        guard let link = state.links[handle] else { return }
        state.links[handle]?.procedures.remove(.encryption)
        state.links[handle]?.procedures.remove(.keyRequest)
        if link.isEncrypted {
            send(.encryptionKeyRefreshComplete, [status] + handle.bytes)
        } else {
            state.links[handle]?.isEncrypted = status == 0
            // On, with AES-CCM.
            send(.encryptionChange, [status] + handle.bytes + [status == 0 ? 1 : 0])
        }
    }
}
