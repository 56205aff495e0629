import BluetoothBackend
import BluetoothSupport
import FoundationEssentials
import Logging

/// The backend that is not decided yet: the primary one if it has an adapter, otherwise the fallback, if one is
/// allowed.
///
/// Managers stay in `.unknown` until then; no thread waits. The probe starts with the first manager and ends with the
/// primary backend's first definite state, or after 3 seconds.
final class AutomaticBackend: BluetoothBackend {
    private struct State {
        var isProbing = false
        var decided: (any BluetoothBackend)?
        var waiting: [@Sendable (any BluetoothBackend) -> Void] = []
    }

    /// The backend that may be used if the primary one has no adapter.
    struct Fallback: Sendable {
        /// The reason that allows it, for the log.
        var reason: String
        var backend: @Sendable () -> any BluetoothBackend
    }

    static let deadline = Duration.seconds(3)

    private let primary: any BluetoothBackend
    private let fallback: Fallback?
    /// Whether `CI` is set, and does not allow a fallback.
    private let isDoubtfulCI: Bool
    private let probeClock: any BackendClock
    private let state = Lock(State())

    init(
        primary: any BluetoothBackend, fallback: Fallback?, isDoubtfulCI: Bool = false,
        clock: any BackendClock = SystemClock()
    ) {
        self.primary = primary
        self.isDoubtfulCI = isDoubtfulCI
        self.fallback = fallback
        probeClock = clock
    }

    var decided: (any BluetoothBackend)? { state.withLock { $0.decided } }

    /// The name of a backend that is not decided.
    static let undecidedName = "automatic"

    var name: String { decided?.name ?? Self.undecidedName }
    var clock: any BackendClock { DecidedClock(backend: self, before: probeClock) }
    func authorization() -> AuthorizationStatus { (decided ?? primary).authorization() }
    func supports(_ feature: BackendFeature) -> Bool { (decided ?? primary).supports(feature) }
    var announcesSentBursts: Bool { (decided ?? primary).announcesSentBursts }
    func makeCentral(_ options: RoleOptions) -> any CentralBackend {
        DeferredRole(self) { MadeRole($0.makeCentral(options)) }
    }
    func makePeripheral(_ options: RoleOptions) -> any PeripheralBackend {
        DeferredRole(self) { MadeRole($0.makePeripheral(options)) }
    }
    func makePairing() -> any PairingBackend {
        DeferredRole(self) { MadeRole($0.makePairing()) }
    }

    /// Calls `body` with the backend, now if it is decided, otherwise later.
    func whenDecided(_ body: @escaping @Sendable (any BluetoothBackend) -> Void) {
        let (decided, mustProbe) = state.withLock { state -> ((any BluetoothBackend)?, Bool) in
            if let decided = state.decided { return (decided, false) }
            state.waiting.append(body)
            return (nil, !exchange(&state.isProbing, with: true))
        }
        if let decided { body(decided) }
        if mustProbe { probe() }
    }

    /// Asks the primary backend for its state; the first definite one wins.
    private func probe() {
        let central = primary.makeCentral(RoleOptions(adapter: SelectionEnvironment.process.adapter))
        let completion = Lock<(@Sendable (Bool) -> Void)?>({ self.decide(hasAdapter: $0) })
        let end: @Sendable (Bool) -> Void = { hasAdapter in
            guard let decide = completion.withLock({ $0.take() }) else { return }
            // Not inline: a backend may deliver while it holds its lock.
            _ = SystemClock().schedule(after: .zero) {
                central.invalidate()
                decide(hasAdapter)
            }
        }
        probeClock.schedule(after: Self.deadline) { end(false) }
        central.activate(
            PassingSink<CentralEvent>("probe") { event in
                guard case .stateChanged(let state) = event else { return }
                switch state {
                case .unknown, .resetting: break
                case .unsupported: end(false)
                case .unauthorized, .poweredOff, .poweredOn: end(true)
                }
            })
    }

    private func decide(hasAdapter: Bool) {
        let backend = choose(hasAdapter: hasAdapter)
        backend.reportUncaptured()
        let waiting = state.withLock { state in
            state.decided = backend
            return exchange(&state.waiting, with: [])
        }
        for body in waiting { body(backend) }
    }

    private func choose(hasAdapter: Bool) -> any BluetoothBackend {
        let logger = Logger(label: "CoreBluetooth")
        if hasAdapter { return primary }
        if let fallback {
            let backend = fallback.backend()
            logger.line(
                .warning,
                """
                no Bluetooth adapter through \(primary.name): using the backend \"\(backend.name)\" instead, \
                since \(fallback.reason)
                """)
            return backend
        }
        let doubt = isDoubtfulCI ? "; the variable CI alone does not allow one" : ""
        logger.line(
            .warning,
            """
            no Bluetooth adapter through \(primary.name): plug one in or start bluetoothd (bluectl doctor shows more), \
            or set COREBLUETOOTH_BACKEND=emulator for the emulator\(doubt)
            """)
        return primary
    }
}

private struct DecidedClock: BackendClock {
    let backend: AutomaticBackend
    let before: any BackendClock

    private var current: any BackendClock { backend.decided?.clock ?? before }
    var now: Duration { current.now }
    var date: Date { current.date }

    func schedule(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> any BackendTimer {
        current.schedule(after: delay, body)
    }

    func sleep(for duration: Duration) async throws { try await current.sleep(for: duration) }

    func enqueue(_ work: @escaping @Sendable (_ finish: @escaping @Sendable () -> Void) -> Void) {
        current.enqueue(work)
    }

    func withTaskContext(_ body: () -> Void) { current.withTaskContext(body) }
}
