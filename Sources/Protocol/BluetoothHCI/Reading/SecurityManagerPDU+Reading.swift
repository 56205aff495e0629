extension SecurityManagerPDU {
    /// Reads a packet.
    ///
    /// - Returns: nil for packets of unknown codes, of wrong lengths and with values out of range.
    package init?(_ bytes: [UInt8]) {
        var cursor = ByteCursor(bytes)
        guard let code = cursor.byte(), let packet = Self(code, &cursor), cursor.isAtEnd else { return nil }
        self = packet
    }

    private init?(_ code: UInt8, _ cursor: inout ByteCursor) {
        switch code {
        case 0x01:
            guard let features = PairingFeatures(&cursor) else { return nil }
            self = .pairingRequest(features)
        case 0x02:
            guard let features = PairingFeatures(&cursor) else { return nil }
            self = .pairingResponse(features)
        case 0x05:
            guard let reason = cursor.byte() else { return nil }
            self = .failed(reason: reason)
        case 0x07:
            guard let diversifier = cursor.littleEndian(UInt16.self), let random = cursor.littleEndian(UInt64.self)
            else { return nil }
            self = .centralIdentification(random: random, diversifier: diversifier)
        case 0x09:
            guard let type = cursor.byte(), type <= 1, let address = HCIAddress(&cursor, isRandom: type == 1) else {
                return nil
            }
            self = .identityAddress(address)
        case 0x0B:
            guard let requirements = cursor.byte() else { return nil }
            self = .securityRequest(Requirements(rawValue: requirements))
        case 0x0C:
            guard let key = cursor.next(64) else { return nil }
            self = .publicKey(Array(key))
        case 0x0E:
            guard let value = cursor.byte(), value <= 4 else { return nil }
            self = .keypress(value)
        default:
            guard let value = cursor.next(16), let packet = Self(code, value: Array(value)) else { return nil }
            self = packet
        }
    }

    /// A packet that carries a value of 16 bytes.
    private init?(_ code: UInt8, value: [UInt8]) {
        switch code {
        case 0x03: self = .confirm(value)
        case 0x04: self = .random(value)
        case 0x06: self = .encryptionInformation(value)
        case 0x08: self = .identityInformation(value)
        case 0x0A: self = .signingInformation(value)
        case 0x0D: self = .check(value)
        default: return nil
        }
    }
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
