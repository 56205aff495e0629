extension SecurityManagerPDU {
    /// Reads a packet.
    ///
    /// - Returns: nil for packets of unknown codes, of wrong lengths and with values out of range.
    package init?(_ bytes: [UInt8]) {
        var cursor = ByteCursor(bytes)
        guard let code = cursor.byte(), let packet = Self.read(code, &cursor), cursor.isAtEnd else { return nil }
        self = packet
    }

    private static func read(_ code: UInt8, _ cursor: inout ByteCursor) -> Self? {
        switch code {
        case 0x01: return PairingFeatures(&cursor).map { .pairingRequest($0) }
        case 0x02: return PairingFeatures(&cursor).map { .pairingResponse($0) }
        case 0x03: return cursor.value().map { .confirm($0) }
        case 0x04: return cursor.value().map { .random($0) }
        case 0x05: return cursor.byte().map { .failed(reason: $0) }
        case 0x06: return cursor.value().map { .encryptionInformation($0) }
        case 0x07:
            guard let diversifier = cursor.littleEndian(UInt16.self), let random = cursor.littleEndian(UInt64.self)
            else { return nil }
            return .centralIdentification(random: random, diversifier: diversifier)
        case 0x08: return cursor.value().map { .identityInformation($0) }
        case 0x09:
            guard let type = cursor.byte(), type <= 1, let address = HCIAddress(&cursor, isRandom: type == 1) else {
                return nil
            }
            return .identityAddress(address)
        case 0x0A: return cursor.value().map { .signingInformation($0) }
        case 0x0B: return cursor.byte().map { .securityRequest(Requirements(rawValue: $0)) }
        case 0x0C: return cursor.value(64).map { .publicKey($0) }
        case 0x0D: return cursor.value().map { .check($0) }
        case 0x0E: return cursor.byte().flatMap { $0 <= 4 ? .keypress($0) : nil }
        default: return nil
        }
    }
}

extension ByteCursor {
    /// Reads a value of 16 bytes, or of another number; nil if there are fewer.
    fileprivate mutating func value(_ count: Int = 16) -> [UInt8]? { next(count).map { Array($0) } }
}

extension SecurityManagerPDU.PairingFeatures {
    fileprivate init?(_ cursor: inout ByteCursor) {
        guard let bytes = cursor.next(6).map(Array.init), bytes[1] <= 1 else { return nil }
        self.init(
            capability: bytes[0], hasOutOfBandData: bytes[1] == 1, requirements: .init(rawValue: bytes[2]),
            maximumKeySize: bytes[3], initiatorKeys: .init(rawValue: bytes[4]),
            responderKeys: .init(rawValue: bytes[5]))
    }
}
