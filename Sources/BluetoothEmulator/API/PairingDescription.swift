public import BluetoothBackend

/// How an emulated device pairs: what it can show and ask, and what its user does.
public struct PairingDescription: Hashable, Sendable {
    /// What the device's user does when asked.
    public enum Answer: String, Hashable, Sendable, CaseIterable {
        /// Agrees, and types what is shown.
        case accept
        /// Refuses.
        case reject
        /// Never answers; nor does the device when a known host wants encryption.
        case ignore
    }

    /// What the device can show and ask, which decides the method with the host's.
    ///
    /// Source: Core Specification, Vol 3, Part H, 2.3.5.1.
    public var capability: PairingCapability
    /// The number that it shows, 0...999999; nil draws one for each pairing.
    public var passkey: Int?
    /// Whether keys can be exchanged in another way, such as NFC, if the host's user has the data.
    public var hasOutOfBandData: Bool
    /// Whether it refuses a pairing that nobody compared (Just Works).
    public var requiresAuthentication: Bool
    /// Whether it keeps the keys.
    public var isBondable: Bool
    /// How many hosts' keys it keeps; at least 1.
    public var maximumBonds: Int
    /// What its user does.
    public var answer: Answer
    /// Whether it asks for encryption as soon as a central connects.
    public var requestsSecurity: Bool

    /// How a device pairs; by default without a word.
    public init(
        capability: PairingCapability = .noInputNoOutput, passkey: Int? = nil, hasOutOfBandData: Bool = false,
        requiresAuthentication: Bool = false, isBondable: Bool = true, maximumBonds: Int = 8,
        answer: Answer = .accept, requestsSecurity: Bool = false
    ) {
        self.capability = capability
        self.passkey = passkey
        self.hasOutOfBandData = hasOutOfBandData
        self.requiresAuthentication = requiresAuthentication
        self.isBondable = isBondable
        self.maximumBonds = maximumBonds
        self.answer = answer
        self.requestsSecurity = requestsSecurity
    }

    /// Checks the description.
    ///
    /// - Throws: ``DescriptionError`` naming field and rule.
    public func validate(path: String = "pairing") throws(DescriptionError) {
        if let passkey, !(0...999_999).contains(passkey) {
            throw DescriptionError("\(path).passkey", "a passkey is 0...999999")
        }
        guard maximumBonds >= 1 else { throw DescriptionError("\(path).maximumBonds", "at least one bond is kept") }
    }
}
