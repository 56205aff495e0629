extension SecurityManagerPDU {
    /// Reads the packets that show how two devices pair: their features, and a failure.
    ///
    /// - Returns: nil for malformed packets, and for those with keys, which no reader needs.
    package init?(_ bytes: [UInt8]) {
        var cursor = ByteCursor(bytes)
        switch cursor.byte() {
        case 0x01:
            guard let features = PairingFeatures(&cursor) else { return nil }
            self = .pairingRequest(features)
        case 0x02:
            guard let features = PairingFeatures(&cursor) else { return nil }
            self = .pairingResponse(features)
        case 0x05:
            guard let reason = cursor.byte() else { return nil }
            self = .failed(reason: reason)
        default: return nil
        }
    }
}

extension SecurityManagerPDU.PairingFeatures {
    fileprivate init?(_ cursor: inout ByteCursor) {
        guard let capability = cursor.byte(), let outOfBand = cursor.byte(), let requirements = cursor.byte() else {
            return nil
        }
        self.init(
            capability: capability, hasOutOfBandData: outOfBand != 0, requiresAuthentication: requirements & 0x04 != 0)
    }
}
