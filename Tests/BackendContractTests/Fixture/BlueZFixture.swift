import BluetoothSupport
import CoreBluetooth
@preconcurrency import Dispatch
import Synchronization

#if BlueZ
import BlueZ
#endif

/// `bluetoothd` and, on the other side of the air, the contract's peer, reached through a socket.
///
/// Without a socket a foreign peripheral is on the air instead of the contract's peer, and only generic scenarios
/// apply.
final class BlueZFixture: ContractFixture {
    let name: String
    private let peer: PeerSocket?
    private let deadline: DispatchTimeInterval = .seconds(40)

    private static let environment = ProcessInfo.processInfo.environment

    /// Whether the environment selects this fixture: `CONTRACT_BACKEND=bluez`.
    static let isChosen = environment["CONTRACT_BACKEND"] == "bluez"

    /// The socket of the contract's peer, if any.
    static let peerPath = environment["CONTRACT_PEER_SOCKET"]

    /// Creates the fixture that the environment describes.
    init() throws {
        name = "bluez " + (Self.environment["CONTRACT_BLUEZ_VERSION"] ?? "unknown")
        peer = try Self.peerPath.map(PeerSocket.init(path:))
    }

    /// The backend, which accepts pairings in scenarios without an agent.
    ///
    /// `CONTRACT_NOTIFICATIONS=acquireNotify` selects the other method of notifications.
    var backend: CBBackendSelection {
        #if BlueZ
        let acquires = Self.environment["CONTRACT_NOTIFICATIONS"] == "acquireNotify"
        return .bluez(
            BlueZConfiguration(
                acceptsJustWorksPairing: true, notificationMethod: acquires ? .acquireNotify : .startNotify))
        #else
        return .automatic()
        #endif
    }

    /// The features of a BlueZ adapter, except those that `CONTRACT_WITHOUT` lists.
    static var features: Set<ContractFeature> {
        Set(ContractFeature.allCases).subtracting([.restoration]).subtracting(named("CONTRACT_WITHOUT"))
    }

    /// The features in `CONTRACT_NEEDS`; if set, only scenarios that need one of them run.
    static let wanted = named("CONTRACT_NEEDS")

    /// Whether a scenario is selected: every one, or those with `CONTRACT_SCENARIO` in their names or topics.
    static func isSelected(_ name: String, of topic: String) -> Bool {
        environment["CONTRACT_SCENARIO"].map { $0.isEmpty || name.contains($0) || topic == $0 } ?? true
    }

    /// Returns the features in an environment variable: comma-separated raw values.
    private static func named(_ variable: String) -> Set<ContractFeature> {
        Set(
            (environment[variable] ?? "").split(separator: ",")
                .compactMap { ContractFeature(rawValue: String($0)) })
    }

    func begin() async throws { try await perform(.reset) }

    @discardableResult
    func perform(_ action: PeerAction) async throws -> PeerReply {
        guard let peer else { return PeerReply() }
        return try await peer.ask(action.json)
    }

    func perform(_ fault: MachineFault) async throws {
        guard let peer else { throw PeerSocket.Failure(description: "no peer, no faults") }
        _ = try await peer.ask(fault.json)
    }

    @discardableResult
    func perform(_ action: CentralAction, by central: ContractCentral) async throws -> PeerReply {
        try await ask(central, action.json)
    }

    /// Returns the central's lines; the peer answers once there are at least `count`, or at its own deadline.
    func lines(of central: ContractCentral, atLeast count: Int) async throws -> [String] {
        let lines = try await ask(central, ["do": "lines", "count": count]).lines
        guard lines.count >= count else { throw ContractTimeout() }
        return lines
    }

    private func ask(_ central: ContractCentral, _ json: [String: Any]) async throws -> PeerReply {
        guard let peer else { throw PeerSocket.Failure(description: "no peer, no central") }
        return try await peer.ask(json.merging(["action": "central", "central": central.rawValue]) { $1 })
    }

    func wait(for trace: ContractTrace, until condition: @escaping @Sendable () -> Bool) async throws {
        let isMet = await withCheckedContinuation { continuation in
            let once = Once { continuation.resume(returning: $0) }
            let number = trace.watch { if condition() { once.finish(true) } }
            // Some conditions change without a callback, so they are checked every 20 ms until the deadline.
            let timer = DispatchSource.makeTimerSource()
            timer.schedule(deadline: .now() + .milliseconds(20), repeating: .milliseconds(20))
            timer.setEventHandler { if condition() { once.finish(true) } }
            once.onFinish {
                timer.cancel()
                trace.stopWatching(number)
            }
            timer.activate()
            DispatchQueue.global().asyncAfter(deadline: .now() + deadline) { once.finish(false) }
            if condition() { once.finish(true) }
        }
        if !isMet { throw ContractTimeout() }
    }
}

/// Calls back once, even if finished several times.
private final class Once: Sendable {
    private struct State {
        var body: (@Sendable (Bool) -> Void)?
        var cleanUp: (@Sendable () -> Void)?
        var isFinished = false
    }

    private let state: Lock<State>

    init(_ body: @escaping @Sendable (Bool) -> Void) { state = Lock(State(body: body)) }

    func onFinish(_ cleanUp: @escaping @Sendable () -> Void) {
        let isLate = state.withLock { state in
            if !state.isFinished { state.cleanUp = cleanUp }
            return state.isFinished
        }
        if isLate { cleanUp() }
    }

    func finish(_ outcome: Bool) {
        let old = state.withLock { exchange(&$0, with: State(isFinished: true)) }
        old.cleanUp?()
        old.body?(outcome)
    }
}
