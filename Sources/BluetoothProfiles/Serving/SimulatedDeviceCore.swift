import BluetoothBackend
import BluetoothLocking
import BluetoothSystemClock
import CoreBluetooth
import Synchronization

/// What a simulated device does with its manager.
///
/// Its state is under a lock; app code and the manager are called outside of it.
final class SimulatedDeviceCore: NSObject, Sendable {
    /// A characteristic of the manager's, and what stands behind it.
    struct Served {
        let object: CBMutableCharacteristic
        let value: any ServedAttribute
    }

    struct State {
        var manager: CBPeripheralManager?
        /// The services that are not added yet, the next one last.
        var unpublished: [CBMutableService] = []
        var served: [Served] = []
        /// Values that wait for room, in order.
        var waiting: [(Int, Data)] = []
        var isSending = false
        var starting: CheckedContinuation<Void, any Error>?
        /// The part of a start that was cancelled before it began.
        var isCancelled = false
    }

    let name: String
    let servers: [any ProfileServer]
    let advertised: [CBUUID]
    let queue = DispatchQueue(label: "SimulatedDevice")
    private let onEvent: (@Sendable (SimulatedDevice.Event) -> Void)?
    private let time = Lock<(any BackendClock, SubscriptionTimers)>(
        (SystemClock(), SubscriptionTimers(SystemClock())))
    private let state = Lock(Guarded(State()))

    init(
        name: String, servers: [any ProfileServer], advertised: [CBUUID],
        onEvent: (@Sendable (SimulatedDevice.Event) -> Void)?
    ) {
        self.name = name
        self.servers = servers
        self.advertised = advertised
        self.onEvent = onEvent
    }

    var clock: any BackendClock { time.withLock { $0.0 } }
    var timers: SubscriptionTimers { time.withLock { $0.1 } }

    func withState<Result>(_ body: (inout State) -> Result) -> Result {
        state.withLock { Guarded(body(&$0.value)) }.value
    }

    func tell(_ event: SimulatedDevice.Event) { onEvent?(event) }

    // MARK: On and off the air

    func start(
        _ makeManager: (any CBPeripheralManagerDelegate, DispatchQueue) -> CBPeripheralManager
    ) async throws {
        guard withState({ $0.manager == nil }) else { throw SimulatedDeviceError.alreadyStarted }
        try Task.checkCancellation()
        let manager = makeManager(self, queue)
        #if !canImport(Darwin)
        let clock = manager.clock
        time.withLock { $0 = (clock, SubscriptionTimers(clock)) }
        #endif
        for server in servers { server.start(ServerContext(core: self)) }
        let held = Guarded(manager)
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isCancelled = withState { state in
                    state.manager = held.value
                    if !state.isCancelled { state.starting = continuation }
                    defer { state.isCancelled = false }
                    return state.isCancelled
                }
                if isCancelled { continuation.resume(throwing: CancellationError()) }
                // The state may have come before the manager was kept.
                queue.async { if held.value.state != .unknown { self.stateChanged(held.value.state) } }
            }
        } onCancel: {
            let starting = withState { state in
                state.isCancelled = state.starting == nil && state.manager == nil
                defer { state.starting = nil }
                return state.starting
            }
            starting?.resume(throwing: CancellationError())
        }
    }

    /// Ends the start: once.
    func finishStart(_ result: Result<Void, SimulatedDeviceError>) {
        let starting = withState { state in
            defer { state.starting = nil }
            return state.starting
        }
        starting?.resume(with: result.mapError { $0 as any Error })
    }

    func stop() {
        finishStart(.failure(.stopped))
        let manager = withState { state -> CBPeripheralManager? in
            defer { state = State() }
            return state.manager
        }
        for server in servers { for value in server.values { value.connect(nil) } }
        timers.removeAll()
        manager?.delegate = nil
        if manager?.state == .poweredOn {
            manager?.stopAdvertising()
            manager?.removeAllServices()
        }
    }

    func stateChanged(_ new: CBManagerState) {
        tell(.stateChanged(new))
        switch new {
        case .poweredOn: publish()
        case .unknown, .resetting: timers.removeAllSubscribers()
        default:
            timers.removeAllSubscribers()
            finishStart(.failure(.unavailable(new)))
        }
    }

    // MARK: Values for subscribers

    /// Sends a value after all that wait.
    func send(_ data: Data, of index: Int) {
        withState { $0.waiting.append((index, data)) }
        sendWaiting()
    }

    /// Sends what waits until the system has no more room; one thread at a time, so that the order stays.
    func sendWaiting() {
        while true {
            let next = withState { state -> (CBPeripheralManager, CBMutableCharacteristic, Data)? in
                guard !state.isSending, let manager = state.manager, let first = state.waiting.first,
                    state.served.indices.contains(first.0)
                else { return nil }
                state.isSending = true
                return (manager, state.served[first.0].object, first.1)
            }
            guard let (manager, object, data) = next else { return }
            let isSent = manager.updateValue(data, for: object, onSubscribedCentrals: nil)
            withState { state in
                state.isSending = false
                if isSent, !state.waiting.isEmpty { state.waiting.removeFirst() }
            }
            guard isSent else { return }
            tell(.notified(characteristic: object.uuid, value: data))
        }
    }
}

/// Carries a value that is not `Sendable` to where a lock or a queue keeps it safe.
///
/// Invariant of `@unchecked`: the core's state is reached under its lock; managers and their objects are thread-safe, or
/// called on the device's queue.
struct Guarded<Value>: @unchecked Sendable {
    var value: Value

    init(_ value: Value) { self.value = value }
}
