import BluetoothBackend
import BluetoothEmulator
import BluetoothHCI
import BluetoothSupport
import Testing

@testable import EmulatedHCI

/// Two Security Managers on a link that delivers their packets and encrypts as controllers do.
struct PairingLink: CustomTestStringConvertible {
    typealias Action = SecurityManager.Action

    /// The packet that arrives in place of the one that a side sent; nil loses it.
    typealias Rewriting = (_ sender: LinkSide, _ index: Int, _ packet: [UInt8]) -> [UInt8]?
    /// A user's answer, or none.
    ///
    /// `number` is the one that the other side shows, or one on which the users agreed.
    typealias Answering = (_ side: LinkSide, _ question: PairingQuestion, _ number: Int) -> PairingAnswer?

    static let central = HCIAddress(bits: 0x5612_3737_BFCE, isRandom: false)
    static let peripheral = HCIAddress(bits: 0xE713_702D_CFC1, isRandom: true)
    /// The number that users enter if no side shows one.
    static let agreedNumber = 504_329

    private(set) var ends: [LinkSide: SecurityManager]
    var rewrite: Rewriting = { _, _, packet in packet }
    var answer: Answering = { _, question, number in
        if case .enterPasskey = question { .passkey(number) } else { .accept }
    }

    /// The packets that were sent.
    private(set) var packets: [(sender: LinkSide, bytes: [UInt8])] = []
    private(set) var questions: [LinkSide: [PairingQuestion]] = [.central: [], .peripheral: []]
    /// The last question of each side that it has not answered.
    private(set) var openQuestions: [LinkSide: PairingQuestion] = [:]
    private(set) var runningTimers: Set<LinkSide> = []
    private(set) var pairings: [LinkSide: (keys: SecurityKeys, isBonded: Bool)] = [:]
    private(set) var failures: [LinkSide: [SecurityManager.Failure]] = [.central: [], .peripheral: []]
    /// The keys with which the link was encrypted.
    private(set) var encryptions: [[UInt8]] = []
    private(set) var encrypted: [LinkSide: [Bool]] = [.central: [], .peripheral: []]
    /// The sides that encrypted the link with the keys of an earlier pairing.
    private(set) var resumptions: [LinkSide] = []
    private var pendingActions: [(LinkSide, Action)] = []
    private var unanswered: [(LinkSide, PairingQuestion)] = []

    init(
        _ central: SecurityManager.Configuration, _ peripheral: SecurityManager.Configuration,
        keys: [LinkSide: SecurityKeys] = [:], seed: UInt64 = 1
    ) {
        ends = [
            .central: SecurityManager(
                side: .central, address: Self.central, peerAddress: Self.peripheral, configuration: central,
                keys: keys[.central], random: SeededGenerator(seed: seed, stream: "central")),
            .peripheral: SecurityManager(
                side: .peripheral, address: Self.peripheral, peerAddress: Self.central, configuration: peripheral,
                keys: keys[.peripheral], random: SeededGenerator(seed: seed, stream: "peripheral")),
        ]
    }

    /// Gives an input to one side, and delivers what follows from it.
    mutating func handle(_ side: LinkSide, _ input: SecurityManager.Input) {
        deliver(side, input)
        // A pairing by passkey takes about 100 packets, each with two actions.
        for _ in 0..<2_000 {
            guard !pendingActions.isEmpty else {
                guard let (side, question) = unanswered.popFirst() else { return }
                reply(side, question)
                continue
            }
            let (side, action) = pendingActions.removeFirst()
            perform(side, action)
        }
        Issue.record("the two sides do not come to an end")
    }

    private mutating func deliver(_ side: LinkSide, _ input: SecurityManager.Input) {
        guard let actions = ends[side]?.handle(input) else { return }
        if case .answered = input {
            // A number that is shown stays.
            if case .display? = openQuestions[side] {} else { openQuestions[side] = nil }
        }
        pendingActions += actions.map { (side, $0) }
    }

    private mutating func perform(_ side: LinkSide, _ action: Action) {
        switch action {
        case .send(let packet):
            packets.append((side, packet))
            if let packet = rewrite(side, packets.count - 1, packet) { deliver(side.other, .received(packet)) }
        case .startTimer: runningTimers.insert(side)
        case .stopTimer: runningTimers.remove(side)
        case .ask(let question):
            questions[side, default: []].append(question)
            openQuestions[side] = question
            unanswered.append((side, question))
        case .cancelQuestion:
            openQuestions[side] = nil
            unanswered.removeAll { $0.0 == side }
        case .startEncryption(let key, let random, let diversifier): encrypt(key, random, diversifier)
        case .answerKeyRequest: Issue.record("no key was requested")
        case .encrypted(let isAuthenticated): encrypted[side, default: []].append(isAuthenticated)
        case .resumed: resumptions.append(side)
        case .paired(let keys, let isBonded):
            pairings[side] = (keys, isBonded)
            openQuestions[side] = nil
        case .failed(let failure): failures[side, default: []].append(failure)
        }
    }

    private mutating func encrypt(_ key: [UInt8], _ random: UInt64, _ diversifier: UInt16) {
        let actions = ends[.peripheral]?.handle(.keyRequested(random: random, diversifier: diversifier)) ?? []
        var peripheralKey: [UInt8]?
        for action in actions {
            if case .answerKeyRequest(let key) = action { peripheralKey = key } else { perform(.peripheral, action) }
        }
        guard let peripheralKey else { return deliver(.central, .encryptionChanged(status: 0x06)) }
        let status: UInt8 = peripheralKey == key ? 0 : 0x3D
        if status == 0 { encryptions.append(key) }
        for side in [LinkSide.central, .peripheral] { deliver(side, .encryptionChanged(status: status)) }
    }

    private mutating func reply(_ side: LinkSide, _ question: PairingQuestion) {
        let shown = questions[side.other, default: []].compactMap {
            if case .display(let number) = $0 { number } else { nil }
        }
        guard let answer = answer(side, question, shown.last ?? Self.agreedNumber) else { return }
        deliver(side, .answered(answer))
    }

    // MARK: Results

    /// The reasons of Pairing Failed on the air.
    var reasons: [UInt8] { packets.map(\.bytes).filter { $0[0] == 0x05 }.map { $0[1] } }

    func count(_ code: UInt8) -> Int { packets.filter { $0.bytes[0] == code }.count }

    /// Whether both sides are at the end of a pairing that this side has ended for a reason.
    func isEnded(by side: LinkSide, _ reason: PairingFailedReason) -> Bool {
        failures[side] == [.ended(reason)] && failures[side.other] == [.endedByPeer(reason)]
            && reasons == [reason.rawValue] && pairings.isEmpty && isQuiet
    }

    var testDescription: String {
        "\(failures), packets \(packets.map(\.bytes[0])), open \(openQuestions), running \(runningTimers)"
    }

    /// Whether nothing is open.
    var isQuiet: Bool { openQuestions.isEmpty && runningTimers.isEmpty }
}

extension SecurityManager.Configuration {
    /// A configuration of one side, with its identity.
    static func side(
        _ side: LinkSide, _ capability: PairingCapability = .noInputNoOutput, secureConnections: Bool = true
    ) -> Self {
        let address = side == .central ? PairingLink.central : PairingLink.peripheral
        var configuration = Self(capability: capability, identityAddress: address)
        configuration.identityKey = [UInt8](repeating: side == .central ? 0xC1 : 0x9E, count: 16)
        configuration.supportsSecureConnections = secureConnections
        return configuration
    }

    func with(_ change: (inout Self) -> Void) -> Self {
        var copy = self
        change(&copy)
        return copy
    }
}

extension Array {
    fileprivate mutating func popFirst() -> Element? { isEmpty ? nil : removeFirst() }
}
