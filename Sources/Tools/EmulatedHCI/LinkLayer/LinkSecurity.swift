import BluetoothBackend
import BluetoothEmulator
import BluetoothHCI
import BluetoothSupport
import BluetoothValues

/// The Security Manager of the emulated end of a link: of a described device, or of the host of an app.
///
/// The link is encrypted if both ends have the same key; payloads are not.
// Invariant: used on the queue of the link layer only.
final class LinkSecurity: @unchecked Sendable {
    /// The ends of a link.
    struct Ends {
        /// The handle of the link, and the number by which taps report it.
        let handle: UInt16
        let number: UInt32
        /// The side of the emulated end.
        let side: LinkSide
        /// The addresses on the air.
        let emulated: HCIAddress
        let external: HCIAddress
    }

    private let ends: Ends
    private let user: PairingUser
    /// The security of the link when it was set up.
    private let level: SecurityLevel
    private unowned let layer: EmulatedLinkLayer
    private var manager: SecurityManager
    /// Called before the world learns that the link is encrypted with the keys of an earlier pairing.
    var willResume: () -> Void = {}
    private var timer: (any BackendTimer)?
    /// The key with which the emulated central starts encryption, until the host has answered.
    private var startingKey: [UInt8]?
    /// The key of the emulated peripheral for the encryption that the host starts.
    private var offeredKey: [UInt8]?
    /// - Parameter level: The security of the new link, from which follows whether the emulated end has the keys.
    init(_ ends: Ends, _ user: PairingUser, _ level: SecurityLevel, of layer: EmulatedLinkLayer) {
        (self.ends, self.user, self.level, self.layer) = (ends, user, level, layer)
        // A private address may be one that the world does not know.
        let hasKeys = level != .plain || ends.external.isResolvable
        manager = SecurityManager(
            side: ends.side, address: ends.emulated, peerAddress: ends.external,
            configuration: user.configuration(identity: ends.emulated, in: layer.emulator),
            keys: hasKeys ? layer.bonds.keys(of: ends.external, at: ends.emulated) : nil,
            random: SeededGenerator(
                seed: layer.emulator.seed, stream: "security \(layer.host.name) \(ends.number)"))
    }

    /// Begins with the keys of an earlier pairing: a host's central encrypts at once, and a device may ask for security.
    func begin() {
        let present: SecurityLevel = manager.keys == nil ? .plain : .bonded
        if present != level { layer.emulator.control(link: ends.number, .setSecurity(present)) }
        if user.requestsSecurity || ends.side == .central && manager.keys != nil { handle(.encrypt) }
    }

    /// The values of the external client's Client Characteristic Configurations, which are stored with the keys.
    var subscriptions: [AttributeID: UInt16] {
        get { layer.bonds.subscriptions(of: ends.external, at: ends.emulated) }
        set {
            if manager.isEncrypted { layer.bonds.store(newValue, of: ends.external, at: ends.emulated) }
        }
    }

    // MARK: Inputs

    func receive(_ packet: [UInt8]) { handle(.received(packet)) }

    /// Encrypts the link, with a pairing if it is necessary; the world learns of the result.
    func secure() {
        guard !manager.isEncrypted else { return end(.resumed) }
        handle(.encrypt)
    }

    /// Handles the answer of the user; nil ends the pairing.
    func answer(_ answer: PairingAnswer?) { handle(answer.map(SecurityManager.Input.answered) ?? .cancel) }

    /// Handles the host's start of encryption as the central.
    ///
    /// - Returns: Whether the keys of both ends are equal, or the link ends.
    func encrypt(key: [UInt8], random: UInt64, diversifier: UInt16) -> Bool {
        offeredKey = nil
        handle(.keyRequested(random: random, diversifier: diversifier))
        guard let offeredKey else {
            layer.emit(.encryptionChanged(handle: ends.handle, status: HCIStatus.pinOrKeyMissing.rawValue))
            return true
        }
        return start(offeredKey == key)
    }

    /// Handles the host's answer, as the peripheral, to the emulated central's start of encryption.
    ///
    /// - Returns: Whether the keys of both ends are equal, or the link ends.
    func answerKeyRequest(_ key: [UInt8]?) -> Bool {
        guard let startingKey = startingKey.take() else { return true }
        guard let key else {
            handle(.encryptionChanged(status: HCIStatus.pinOrKeyMissing.rawValue))
            return true
        }
        return start(startingKey == key)
    }

    private func start(_ isEqual: Bool) -> Bool {
        guard isEqual else { return false }
        layer.emit(.encryptionChanged(handle: ends.handle, status: 0))
        handle(.encryptionChanged(status: 0))
        return true
    }

    func end() {
        handle(.disconnected)
        timer?.cancel()
    }

    // MARK: Actions

    private func handle(_ input: SecurityManager.Input) {
        if !manager.isPairing {
            manager.configuration = user.configuration(identity: ends.emulated, in: layer.emulator)
        }
        for action in manager.handle(input) { perform(action) }
    }

    private func perform(_ action: SecurityManager.Action) {
        switch action {
        case .send(let packet):
            layer.emit(.received(handle: ends.handle, channel: L2CAPChannel.securityManager, packet))
        case .startTimer:
            timer?.cancel()
            timer = layer.after(.seconds(30)) { [weak self] in self?.handle(.timedOut) }
        case .stopTimer: timer?.cancel()
        case .ask(let question): ask(question)
        // The end of the pairing follows.
        case .cancelQuestion: break
        case .startEncryption(let key, let random, let diversifier):
            startingKey = key
            layer.emit(.keyRequested(handle: ends.handle, random: random, diversifier: diversifier))
        case .answerKeyRequest(let key): offeredKey = key
        case .encrypted(let isAuthenticated):
            layer.emulator.control(
                link: ends.number, .setSecurity(isAuthenticated ? .authenticated : .encrypted))
        case .resumed:
            willResume()
            end(.resumed)
        case .paired(let keys, let isBonded):
            if isBonded { layer.bonds.store(keys, of: ends.external, at: ends.emulated, limit: user.maximumBonds) }
            end(.paired(isBonded: isBonded, isAuthenticated: keys.isAuthenticated))
        case .failed(let failure): end(.failed(failure.code))
        }
    }

    private func ask(_ question: PairingQuestion) {
        switch user {
        case .device(let description): if let answer = description.answer(to: question) { handle(.answered(answer)) }
        case .host: layer.emulator.control(link: ends.number, .askUser(ends.side, question))
        }
    }

    private func end(_ result: ExternalPairingResult) { layer.emulator.control(link: ends.number, .endPairing(result)) }
}

/// The user of an emulated device or host, who answers the questions of pairings.
enum PairingUser: Sendable {
    /// The user of a described device.
    case device(PairingDescription)
    /// The user of a host of the world, for whom an agent answers: by its number.
    case host(Int)

    var requestsSecurity: Bool {
        if case .device(let description) = self { description.requestsSecurity } else { false }
    }

    /// The number of peers whose keys are stored.
    var maximumBonds: Int {
        if case .device(let description) = self { description.maximumBonds } else { SecurityBonds.limit }
    }

    func configuration(identity: HCIAddress, in emulator: Emulator) -> SecurityManager.Configuration {
        switch self {
        case .device(let description): return description.configuration(identity: identity)
        case .host(let number):
            let capability = emulator.pairingCapability(ofHost: number)
            var configuration = SecurityManager.Configuration(
                capability: capability ?? .noInputNoOutput, identityAddress: identity)
            let agrees = capability != nil || emulator.configuration.agreesToPairing
            configuration.policy = agrees ? .accept : .refuse(.pairingNotSupported)
            return configuration
        }
    }
}

extension PairingDescription {
    fileprivate func configuration(identity: HCIAddress) -> SecurityManager.Configuration {
        var configuration = SecurityManager.Configuration(capability: capability, identityAddress: identity)
        configuration.isBondable = isBondable
        configuration.passkey = passkey
        if requiresAuthentication { configuration.authentication = .required }
        switch answer {
        case .accept: configuration.policy = .accept
        case .reject: configuration.policy = .refuse(.pairingNotSupported)
        case .ignore: configuration.policy = .ignore
        }
        return configuration
    }

    /// Returns the answer to a question; nil for a number that is displayed.
    ///
    /// The user of a device cannot see a number that a host outside of the emulator displays, and enters the passkey of the
    /// description. Without one, the pairing waits for `EmulatedDevice.enterPasskey`, for 30 seconds at most.
    fileprivate func answer(to question: PairingQuestion) -> PairingAnswer? {
        switch question {
        case .display: nil
        case .consent, .confirm: answer == .accept ? .accept : .reject
        case .enterPasskey: passkey.map(PairingAnswer.passkey)
        case .outOfBand: .reject
        }
    }
}

extension SecurityManager.Failure {
    /// The error of the app that waits for the pairing.
    fileprivate var code: BackendError.Code {
        switch self {
        case .ended(let reason), .endedByPeer(let reason):
            switch reason {
            case .pairingNotSupported, .authenticationRequirements, .commandNotSupported, .repeatedAttempts:
                .operationNotSupported
            case .confirmValueFailed, .checkFailed: .invalidParameters
            default: .operationCancelled
            }
        case .encryption(HCIStatus.pinOrKeyMissing.rawValue): .peerRemovedPairingInformation
        case .encryption, .timedOut: .encryptionTimedOut
        case .disconnected: .peerDisconnected
        }
    }
}

/// The keys of the emulated ends of pairings with a host outside of the emulator, which survive its reconnection.
struct SecurityBonds: Sendable {
    /// The maximum number of stored keys; further ones replace the oldest.
    static let limit = 256

    private struct Bond {
        /// The address of the emulated end.
        let emulated: HCIAddress
        /// The address of the host on the air when it paired.
        let external: HCIAddress
        let keys: SecurityKeys
        var subscriptions: [AttributeID: UInt16] = [:]

        func isOf(_ address: HCIAddress) -> Bool {
            external == address || keys.peer.identityAddress == address || keys.resolves(address)
        }
    }

    private var bonds: [Bond] = []

    private func index(of external: HCIAddress, at emulated: HCIAddress) -> Int? {
        bonds.lastIndex { $0.emulated == emulated && $0.isOf(external) }
    }

    /// Returns the keys of the host with an address on the air; nil if it has not paired with the emulated end.
    func keys(of external: HCIAddress, at emulated: HCIAddress) -> SecurityKeys? {
        index(of: external, at: emulated).map { bonds[$0].keys }
    }

    /// Returns the values of the host's Client Characteristic Configurations.
    func subscriptions(of external: HCIAddress, at emulated: HCIAddress) -> [AttributeID: UInt16] {
        index(of: external, at: emulated).map { bonds[$0].subscriptions } ?? [:]
    }

    mutating func store(_ subscriptions: [AttributeID: UInt16], of external: HCIAddress, at emulated: HCIAddress) {
        if let index = index(of: external, at: emulated) { bonds[index].subscriptions = subscriptions }
    }

    /// - Parameter limit: The number of hosts whose keys the emulated end stores.
    mutating func store(_ keys: SecurityKeys, of external: HCIAddress, at emulated: HCIAddress, limit: Int) {
        bonds.removeAll { bond in
            bond.emulated == emulated && (bond.isOf(external) || keys.peer.identityAddress.map(bond.isOf) == true)
        }
        bonds.append(Bond(emulated: emulated, external: external, keys: keys))
        let own = bonds.indices.filter { bonds[$0].emulated == emulated }
        if own.count > limit { bonds.remove(at: own[0]) }
        if bonds.count > Self.limit { bonds.removeFirst() }
    }
}

extension HCIAddress {
    /// Whether the address is a resolvable private one.
    fileprivate var isResolvable: Bool { isRandom && bits >> 46 == 0b01 }
}

extension SecurityKeys {
    /// Whether a resolvable private address is one of the peer's.
    fileprivate func resolves(_ address: HCIAddress) -> Bool {
        guard address.isResolvable, let key = peer.identityKey else { return false }
        let bytes = address.bytes
        return SecurityFunctions.ah(key: key, random: Array(bytes[3...])) == Array(bytes[..<3])
    }
}
