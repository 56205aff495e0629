import BluetoothBackend
import BluetoothEmulator
import BluetoothHCI
import BluetoothSupport

/// The agreement of both ends of a link after they exchanged their features.
struct PairingTerms: Hashable, Sendable {
    /// The end whose terms these are.
    let side: LinkSide
    /// The addresses with which the link was set up.
    let central: HCIAddress
    let peripheral: HCIAddress
    let request: SecurityManagerPDU.PairingFeatures
    let response: SecurityManagerPDU.PairingFeatures
    let usesSecureConnections: Bool
    let method: PairingMethod
    /// The size of the long-term keys in bytes: 7...16.
    let keySize: Int
    let acceptsDebugKeys: Bool

    /// Compares the features of both ends.
    ///
    /// Source: Core Specification, Vol 3, Part H, 2.3.4 and 2.3.5.1.
    init(
        _ configuration: SecurityManager.Configuration, side: LinkSide, central: HCIAddress, peripheral: HCIAddress,
        request: SecurityManagerPDU.PairingFeatures, response: SecurityManagerPDU.PairingFeatures
    ) throws(PairingFailedReason) {
        (self.side, self.central, self.peripheral) = (side, central, peripheral)
        (self.request, self.response) = (request, response)
        acceptsDebugKeys = configuration.acceptsDebugKeys
        let peer = side == .central ? response : request
        guard let initiator = PairingCapability(octet: request.capability),
            let responder = PairingCapability(octet: response.capability), (7...16).contains(peer.maximumKeySize),
            response.initiatorKeys.isSubset(of: request.initiatorKeys),
            response.responderKeys.isSubset(of: request.responderKeys)
        else { throw .invalidParameters }
        keySize = Int(min(request.maximumKeySize, response.maximumKeySize))
        guard keySize >= configuration.keySizes.lowerBound else { throw .encryptionKeySize }
        usesSecureConnections =
            request.requirements.contains(.secureConnections) && response.requirements.contains(.secureConnections)
        // The peer would use data that this end has not given to it; in legacy pairing, both must have data.
        guard !usesSecureConnections || !peer.hasOutOfBandData else { throw .outOfBandDataNotAvailable }
        let isAuthenticationWanted = request.requiresAuthentication || response.requiresAuthentication
        method =
            isAuthenticationWanted
            ? PairingMethod(
                central: initiator, peripheral: responder, hasOutOfBandData: false,
                usesSecureConnections: usesSecureConnections) : .justWorks
        guard method.isAuthenticated || configuration.authentication != .required else {
            throw .authenticationRequirements
        }
    }

    var isBonding: Bool { request.requirements.contains(.bonding) && response.requirements.contains(.bonding) }

    /// The keys that an end distributes.
    func keys(of side: LinkSide) -> SecurityManagerPDU.KeyDistribution {
        let keys = side == .central ? response.initiatorKeys : response.responderKeys
        return usesSecureConnections ? keys.subtracting(.encryption) : keys
    }

    /// Whether the end shows the passkey.
    var showsPasskey: Bool { method == .passkey(shownBy: side) }

    var isPasskeyUsed: Bool { if case .passkey = method { true } else { false } }

    /// Shortens a key to the size on which both ends agreed, by setting its most significant bytes to zero.
    func shortened(_ key: [UInt8]) -> [UInt8] {
        key.prefix(keySize) + [UInt8](repeating: 0, count: key.count - keySize)
    }
}

/// The authentication of a pairing, its phase 2.
protocol PairingExchange: Sendable {
    /// Begins; `passkey` is the number that this end shows if the method needs one.
    mutating func start(passkey: Int, _ random: inout SeededGenerator) -> [PairingStep]

    /// Handles a packet other than a failure and a keypress.
    mutating func receive(_ packet: SecurityManagerPDU, _ random: inout SeededGenerator) -> [PairingStep]

    /// Handles the number that the user entered.
    mutating func enter(passkey: Int, _ random: inout SeededGenerator) -> [PairingStep]

    /// Handles the user's confirmation that the numbers are the same.
    mutating func confirm() -> [PairingStep]
}

/// A consequence of an input of an exchange.
enum PairingStep: Hashable, Sendable {
    case send(SecurityManagerPDU)
    case ask(PairingQuestion)
    /// Both ends have the key with which the link is encrypted.
    case finish(key: [UInt8])
    case fail(PairingFailedReason)
}

extension [UInt8] {
    /// The passkey as a number of 16 bytes, least significant byte first.
    init(passkey: Int) {
        self.init(repeating: 0, count: 16)
        for index in 0..<3 { self[index] = UInt8(truncatingIfNeeded: passkey >> (8 * index)) }
    }
}
