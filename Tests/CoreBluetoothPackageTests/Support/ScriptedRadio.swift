import BluetoothBackend
import BluetoothLocking
import Foundation
import Synchronization

/// A radio that a test plays by hand: commands are kept, events are sent, time stands still until it is moved.
final class ScriptedRadio: BluetoothBackend {
    let name = "scripted"
    let manualClock = ManualClock()
    let pairing = ScriptedPairing()
    private struct Roles {
        var made: [ScriptedCentral] = []
        var waiting: [(index: Int, continuation: CheckedContinuation<ScriptedCentral, Never>)] = []
    }

    private let roles = Lock(Roles())
    private let known = Lock<[PeerSummary]>([])
    private let peripheralRoles = Lock<[ScriptedPeripheral]>([])

    var clock: any BackendClock { manualClock }
    func authorization() -> AuthorizationStatus { .allowed }
    func supports(_ feature: BackendFeature) -> Bool { feature == .extendedScanAndConnect }

    func makeCentral(_ options: CentralOptions) -> any CentralBackend {
        let central = ScriptedCentral(known: known.withLock { $0 })
        let due = roles.withLock { roles in
            roles.made.append(central)
            let last = roles.made.count - 1
            defer { roles.waiting.removeAll { $0.index == last } }
            return roles.waiting.filter { $0.index == last }
        }
        for waiter in due { waiter.continuation.resume(returning: central) }
        return central
    }

    func makePeripheral(_ options: PeripheralOptions) -> any PeripheralBackend {
        let peripheral = ScriptedPeripheral()
        peripheralRoles.withLock { $0.append(peripheral) }
        return peripheral
    }

    func makePairing() -> any PairingBackend { pairing }

    /// The central roles made so far, in order.
    var centrals: [ScriptedCentral] { roles.withLock { $0.made } }

    /// The peripheral roles made so far, in order.
    var peripherals: [ScriptedPeripheral] { peripheralRoles.withLock { $0 } }

    /// The central role with this number, once it is made.
    func central(_ index: Int) async -> ScriptedCentral {
        await withCheckedContinuation { continuation in
            let made = roles.withLock { roles -> ScriptedCentral? in
                if roles.made.indices.contains(index) { return roles.made[index] }
                roles.waiting.append((index, continuation))
                return nil
            }
            if let made { continuation.resume(returning: made) }
        }
    }

    /// What later centrals know of peers.
    func know(_ summaries: [PeerSummary]) { known.withLock { $0 = summaries } }
}

/// One central role of a ``ScriptedRadio``.
final class ScriptedCentral: CentralBackend {
    private struct State {
        var sink: (any EventSink<CentralEvent>)?
        var commands: [CentralCommand] = []
        var isInvalidated = false
    }

    private let state = Lock(State())
    private let known: [PeerSummary]

    init(known: [PeerSummary]) { self.known = known }

    func activate(_ sink: any EventSink<CentralEvent>) { state.withLock { $0.sink = sink } }
    func submit(_ command: CentralCommand) { state.withLock { $0.commands.append(command) } }
    func knownPeers(_ ids: [PeerID]) -> [PeerSummary] { ids.compactMap { id in known.first { $0.id == id } } }
    func connectedPeers(offering services: [BluetoothUUID]) -> [PeerSummary] { services.isEmpty ? [] : known }

    func invalidate() {
        state.withLock { state in
            state.isInvalidated = true
            state.sink = nil
        }
    }

    var isInvalidated: Bool { state.withLock { $0.isInvalidated } }
    var commands: [CentralCommand] { state.withLock { $0.commands } }

    func send(_ events: CentralEvent...) {
        let sink = state.withLock { $0.sink }
        for event in events { sink?.deliver(event) }
    }

    /// Returns when all that was sent has been handled.
    func settle() async {
        guard let sink = state.withLock({ $0.sink }) else { return }
        await withCheckedContinuation { continuation in
            sink.afterDelivery { continuation.resume() }
        }
    }

    /// Sends, and returns when it has been handled.
    func play(_ events: CentralEvent...) async {
        let sink = state.withLock { $0.sink }
        for event in events { sink?.deliver(event) }
        await settle()
    }

    /// The operation and peer of the last connect.
    var lastConnect: (peer: PeerID, operation: OperationID)? {
        for case .connect(let peer, let operation, _) in commands.reversed() { return (peer, operation) }
        return nil
    }

    /// The operation of the last command that has one.
    var lastOperation: OperationID? {
        for command in commands.reversed() {
            switch command {
            case .readRSSI(_, let operation), .discoverServices(_, let operation, _),
                .discoverIncludedServices(_, let operation, _, _), .discoverCharacteristics(_, let operation, _, _),
                .discoverDescriptors(_, let operation, _), .read(_, let operation, _),
                .write(_, let operation, _, _), .setNotifying(_, let operation, _, _),
                .openChannel(_, let operation, _), .connect(_, let operation, _):
                return operation
            default: continue
            }
        }
        return nil
    }
}

/// Time that a test moves.
final class ManualClock: BackendClock {
    private struct State {
        var now = Duration.zero
        var timers: [(due: Duration, timer: ManualTimer)] = []
    }

    private let state = Lock(State())

    var now: Duration { state.withLock { $0.now } }
    var date: Date { Date(timeIntervalSinceReferenceDate: 0) }

    func schedule(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> any BackendTimer {
        let timer = ManualTimer(body)
        state.withLock { $0.timers.append(($0.now + delay, timer)) }
        return timer
    }

    func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.now += duration
            let now = state.now
            defer { state.timers.removeAll { $0.due <= now } }
            return state.timers.filter { $0.due <= now }.map(\.timer)
        }
        for timer in due { timer.fire() }
    }
}

private final class ManualTimer: BackendTimer {
    private let body: Lock<(@Sendable () -> Void)?>

    init(_ body: @escaping @Sendable () -> Void) { self.body = Lock(body) }
    func fire() { body.withLock { $0 }?() }
    func cancel() { body.withLock { $0 = nil } }
}
