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
    private unowned let layer: EmulatedLinkLayer
    private var manager: SecurityManager
    private var timer: (any BackendTimer)?
    /// The key with which the emulated central starts encryption, until the host has answered.
    private var startingKey: [UInt8]?
    /// The key of the emulated peripheral for the encryption that the host starts.
    private var offeredKey: [UInt8]?
    private var waiters: [(Bool) -> Void] = []

    init(_ ends: Ends, _ user: PairingUser, of layer: EmulatedLinkLayer) {
        (self.ends, self.user, self.layer) = (ends, user, layer)
        manager = SecurityManager(
            side: ends.side, address: ends.emulated, peerAddress: ends.external,
            configuration: user.configuration(identity: ends.emulated),
            keys: layer.bonds.keys(of: ends.external, at: ends.emulated),
            random: SeededGenerator(
                seed: layer.emulator.seed, stream: "security \(layer.host.name) \(ends.number)"))
    }

    /// Begins with the keys of an earlier pairing, and asks for security if the device wants it.
    func begin() {
        if manager.keys != nil { layer.emulator.control(link: ends.number, .setSecurity(.bonded)) }
        if user.requestsSecurity { handle(.encrypt) }
    }

    // MARK: Inputs

    func receive(_ packet: [UInt8]) { handle(.received(packet)) }

    /// Encrypts the link, with a pairing if it is necessary.
    ///
    /// - Parameter completion: Receives whether the link is encrypted.
    func secure(_ completion: @escaping (Bool) -> Void) {
        guard !manager.isEncrypted else { return completion(false) }
        waiters.append(completion)
        if waiters.count == 1 { handle(.encrypt) }
    }

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
        guard let startingKey else { return true }
        self.startingKey = nil
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
        case .ask(let question): if let answer = user.answer(to: question) { handle(.answered(answer)) }
        case .cancelQuestion: break
        case .startEncryption(let key, let random, let diversifier):
            startingKey = key
            layer.emit(.keyRequested(handle: ends.handle, random: random, diversifier: diversifier))
        case .answerKeyRequest(let key): offeredKey = key
        case .encrypted(let isAuthenticated):
            layer.emulator.control(
                link: ends.number, .setSecurity(isAuthenticated ? .authenticated : .encrypted))
            finish(true)
        case .paired(let keys, let isBonded):
            if isBonded { layer.bonds.store(keys, of: ends.external, at: ends.emulated, limit: user.maximumBonds) }
        case .failed: finish(false)
        }
    }

    private func finish(_ isEncrypted: Bool) {
        let waiting = waiters
        waiters = []
        for waiter in waiting { waiter(isEncrypted) }
    }
}

/// The user of an emulated device or host, who answers the questions of pairings.
struct PairingUser: Sendable {
    /// The pairing behavior; the host of an app has that of a device without input and output.
    private let description: PairingDescription
    private let isHost: Bool

    /// The user of a described device.
    init(_ description: PairingDescription) { (self.description, isHost) = (description, false) }

    /// The user of an app's host.
    ///
    /// - Parameter agrees: ``EmulatorConfiguration/agreesToPairing``.
    init(hostThatAgrees agrees: Bool) {
        (description, isHost) = (PairingDescription(answer: agrees ? .accept : .reject), true)
    }

    var requestsSecurity: Bool { description.requestsSecurity }

    /// The number of peers whose keys are stored.
    var maximumBonds: Int { isHost ? SecurityBonds.limit : description.maximumBonds }

    func configuration(identity: HCIAddress) -> SecurityManager.Configuration {
        var configuration = SecurityManager.Configuration(
            capability: description.capability, identityAddress: identity)
        configuration.isBondable = description.isBondable
        configuration.passkey = description.passkey
        if description.requiresAuthentication { configuration.authentication = .required }
        switch description.answer {
        case .accept: configuration.policy = .accept
        case .reject: configuration.policy = .refuse(.pairingNotSupported)
        case .ignore: configuration.policy = .ignore
        }
        return configuration
    }

    /// Returns the answer to a question; nil for a number that is displayed.
    ///
    /// The user of a device cannot see a number that a host outside of the emulator shows, and enters the passkey of the
    /// description; without one, the pairing is rejected.
    func answer(to question: PairingQuestion) -> PairingAnswer? {
        switch question {
        case .display: nil
        case .consent, .confirm: description.answer == .accept ? .accept : .reject
        case .enterPasskey: description.passkey.map(PairingAnswer.passkey) ?? .reject
        case .outOfBand: .reject
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

        func isOf(_ address: HCIAddress) -> Bool {
            external == address || keys.peer.identityAddress == address || keys.resolves(address)
        }
    }

    private var bonds: [Bond] = []

    /// Returns the keys of the host with an address on the air; nil if it has not paired with the emulated end.
    func keys(of external: HCIAddress, at emulated: HCIAddress) -> SecurityKeys? {
        bonds.last { $0.emulated == emulated && $0.isOf(external) }?.keys
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

extension SecurityKeys {
    /// Whether a resolvable private address is one of the peer's.
    fileprivate func resolves(_ address: HCIAddress) -> Bool {
        guard address.isRandom, address.bits >> 46 == 1, let key = peer.identityKey else { return false }
        let bytes = address.bytes
        return SecurityFunctions.ah(key: key, random: Array(bytes[3...])) == Array(bytes[..<3])
    }
}
