/// A packet of the Security Manager Protocol.
///
/// Source: Core Specification, Vol 3, Part H, 3.5 and 3.6.
package enum SecurityManagerPDU: Hashable, Sendable {
    case pairingRequest(PairingFeatures)
    case pairingResponse(PairingFeatures)
    /// 16 bytes.
    case confirm([UInt8])
    /// 16 bytes.
    case random([UInt8])
    case failed(reason: UInt8)
    /// 16 bytes.
    case identityInformation([UInt8])
    case identityAddress(HCIAddress)
    /// 64 bytes.
    case publicKey([UInt8])
    /// 16 bytes.
    case check([UInt8])

    package struct PairingFeatures: Hashable, Sendable {
        /// DisplayOnly 0, DisplayYesNo 1, KeyboardOnly 2, NoInputNoOutput 3, KeyboardDisplay 4.
        package let capability: UInt8
        package let hasOutOfBandData: Bool
        package let requiresAuthentication: Bool

        package init(capability: UInt8, hasOutOfBandData: Bool, requiresAuthentication: Bool) {
            (self.capability, self.hasOutOfBandData) = (capability, hasOutOfBandData)
            self.requiresAuthentication = requiresAuthentication
        }

        /// Bonding, LE Secure Connections, keys of 16 bytes, identity keys in both directions.
        fileprivate var bytes: [UInt8] {
            [capability, hasOutOfBandData ? 1 : 0, 0x01 | 0x08 | (requiresAuthentication ? 0x04 : 0), 16, 2, 2]
        }
    }

    package var bytes: [UInt8] {
        switch self {
        case .pairingRequest(let features): [0x01] + features.bytes
        case .pairingResponse(let features): [0x02] + features.bytes
        case .confirm(let value): [0x03] + value
        case .random(let value): [0x04] + value
        case .failed(let reason): [0x05, reason]
        case .identityInformation(let key): [0x08] + key
        case .identityAddress(let address): [0x09, address.isRandom ? 1 : 0] + address.bytes
        case .publicKey(let key): [0x0C] + key
        case .check(let value): [0x0D] + value
        }
    }
}
