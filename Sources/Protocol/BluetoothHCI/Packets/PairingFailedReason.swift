/// The reason of a failed pairing.
///
/// Source: Core Specification, Vol 3, Part H, 3.5.5.
package struct PairingFailedReason: RawRepresentable, Error, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let passkeyEntryFailed = PairingFailedReason(rawValue: 0x01)
    package static let outOfBandDataNotAvailable = PairingFailedReason(rawValue: 0x02)
    package static let authenticationRequirements = PairingFailedReason(rawValue: 0x03)
    package static let confirmValueFailed = PairingFailedReason(rawValue: 0x04)
    package static let pairingNotSupported = PairingFailedReason(rawValue: 0x05)
    package static let encryptionKeySize = PairingFailedReason(rawValue: 0x06)
    package static let commandNotSupported = PairingFailedReason(rawValue: 0x07)
    package static let unspecified = PairingFailedReason(rawValue: 0x08)
    package static let repeatedAttempts = PairingFailedReason(rawValue: 0x09)
    package static let invalidParameters = PairingFailedReason(rawValue: 0x0A)
    package static let checkFailed = PairingFailedReason(rawValue: 0x0B)
    package static let numericComparisonFailed = PairingFailedReason(rawValue: 0x0C)
    package static let pairingOfOtherTransport = PairingFailedReason(rawValue: 0x0D)
    package static let conversionNotAllowed = PairingFailedReason(rawValue: 0x0E)
    package static let keyRejected = PairingFailedReason(rawValue: 0x0F)
}
