/// A packet of the Security Manager Protocol.
///
/// Keys and values are of 16 bytes, in the order of the air: least significant byte first.
///
/// Source: Core Specification, Vol 3, Part H, 3.5 and 3.6.
package enum SecurityManagerPDU: Hashable, Sendable {
    case pairingRequest(PairingFeatures)
    case pairingResponse(PairingFeatures)
    case confirm([UInt8])
    case random([UInt8])
    case failed(reason: UInt8)
    /// A long-term key.
    case encryptionInformation([UInt8])
    /// The number and the diversifier that name the long-term key.
    case centralIdentification(random: UInt64, diversifier: UInt16)
    /// An identity resolving key.
    case identityInformation([UInt8])
    case identityAddress(HCIAddress)
    /// A connection signature resolving key.
    case signingInformation([UInt8])
    case securityRequest(Requirements)
    /// The coordinates X and Y, 32 bytes each.
    case publicKey([UInt8])
    case check([UInt8])
    /// 0 entry started, 1 digit entered, 2 digit erased, 3 cleared, 4 entry completed.
    case keypress(UInt8)

    /// The bits of AuthReq.
    ///
    /// Source: Core Specification, Vol 3, Part H, 3.5.1.
    package struct Requirements: OptionSet, Hashable, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        package static let bonding = Requirements(rawValue: 0x01)
        /// Protection against a man in the middle.
        package static let authentication = Requirements(rawValue: 0x04)
        package static let secureConnections = Requirements(rawValue: 0x08)
        package static let keypresses = Requirements(rawValue: 0x10)
        /// Keys for the other transport are converted with h7.
        package static let saltedConversion = Requirements(rawValue: 0x20)
    }

    /// The keys that an end distributes.
    ///
    /// Source: Core Specification, Vol 3, Part H, 3.6.1.
    package struct KeyDistribution: OptionSet, Hashable, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The long-term key of LE legacy pairing, and its identification.
        package static let encryption = KeyDistribution(rawValue: 0x01)
        /// The identity resolving key, and the identity address.
        package static let identity = KeyDistribution(rawValue: 0x02)
        package static let signing = KeyDistribution(rawValue: 0x04)
        /// The key of the other transport, which is converted and not sent.
        package static let link = KeyDistribution(rawValue: 0x08)
    }

    package struct PairingFeatures: Hashable, Sendable {
        /// DisplayOnly 0, DisplayYesNo 1, KeyboardOnly 2, NoInputNoOutput 3, KeyboardDisplay 4.
        package var capability: UInt8
        package var hasOutOfBandData: Bool
        package var requirements: Requirements
        /// The maximum size of the long-term key, in bytes.
        package var maximumKeySize: UInt8
        package var initiatorKeys: KeyDistribution
        package var responderKeys: KeyDistribution

        package init(
            capability: UInt8, hasOutOfBandData: Bool, requirements: Requirements, maximumKeySize: UInt8,
            initiatorKeys: KeyDistribution, responderKeys: KeyDistribution
        ) {
            (self.capability, self.hasOutOfBandData) = (capability, hasOutOfBandData)
            (self.requirements, self.maximumKeySize) = (requirements, maximumKeySize)
            (self.initiatorKeys, self.responderKeys) = (initiatorKeys, responderKeys)
        }

        /// Bonding, LE Secure Connections, keys of 16 bytes, identity keys in both directions.
        package init(capability: UInt8, hasOutOfBandData: Bool, requiresAuthentication: Bool) {
            self.init(
                capability: capability, hasOutOfBandData: hasOutOfBandData,
                requirements: requiresAuthentication
                    ? [.bonding, .secureConnections, .authentication] : [.bonding, .secureConnections],
                maximumKeySize: 16, initiatorKeys: .identity, responderKeys: .identity)
        }

        package var requiresAuthentication: Bool { requirements.contains(.authentication) }

        fileprivate var bytes: [UInt8] {
            [
                capability, hasOutOfBandData ? 1 : 0, requirements.rawValue, maximumKeySize, initiatorKeys.rawValue,
                responderKeys.rawValue,
            ]
        }
    }

    package var bytes: [UInt8] {
        switch self {
        case .pairingRequest(let features): [0x01] + features.bytes
        case .pairingResponse(let features): [0x02] + features.bytes
        case .confirm(let value): [0x03] + value
        case .random(let value): [0x04] + value
        case .failed(let reason): [0x05, reason]
        case .encryptionInformation(let key): [0x06] + key
        case .centralIdentification(let random, let diversifier): [0x07] + diversifier.bytes + random.bytes
        case .identityInformation(let key): [0x08] + key
        case .identityAddress(let address): [0x09, address.isRandom ? 1 : 0] + address.bytes
        case .signingInformation(let key): [0x0A] + key
        case .securityRequest(let requirements): [0x0B, requirements.rawValue]
        case .publicKey(let key): [0x0C] + key
        case .check(let value): [0x0D] + value
        case .keypress(let value): [0x0E, value]
        }
    }
}
