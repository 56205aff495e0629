import BluetoothBackend
import BluetoothLocking
import BluetoothSystemClock
import CoreBluetooth
import Synchronization

/// What a simulated device does with its manager.
///
/// Its state is under a lock; app code and the manager are called outside of it. Managers and their objects are
/// thread-safe, or called on the device's queue.
final class SimulatedDeviceCore: NSObject, Sendable {
    /// A characteristic of the manager's, and what stands behind it.
    struct Served {
        let object: CBMutableCharacteristic
        let value: any ServedAttribute
        let service: CBUUID
    }

    struct State {
        var manager: CBPeripheralManager?
        /// The services that are not added yet, the next one last.
        var unpublished: [CBMutableService] = []
        var served: [Served] = []
        /// Values that wait for room, in order.
        var waiting: [(Int, Data)] = []
        var isSending = false
        /// While a write is answered, so that what it causes comes after the answer.
        var isAnswering = false
        /// Who waits for the start, and how it ended if that was known before.
        var starting: CheckedContinuation<Void, any Error>?
        var outcome: Result<Void, any Error>?
    }

    let name: String
    let servers: [any ProfileServer]
    let advertised: [CBUUID]
    let queue = DispatchQueue(label: "SimulatedDevice")
    private let onEvent: (@Sendable (SimulatedDevice.Event) -> Void)?
    private let time = Lock<(any BackendClock, SubscriptionTimers)>(
        (SystemClock(), SubscriptionTimers(SystemClock())))
    private let state = Lock(Unchecked(State()))

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
        state.withLock { Unchecked(body(&$0.value)) }.value
    }

    func tell(_ event: SimulatedDevice.Event) { onEvent?(event) }

    // MARK: On and off the air

    func start(
        _ makeManager: (any CBPeripheralManagerDelegate, DispatchQueue) -> CBPeripheralManager
    ) async throws {
        // On the queue, so that no callback comes before the manager is kept; in this task, whose radio it may be.
        let isFree = queue.sync { begin(makeManager) }
        guard isFree else { throw SimulatedDeviceError.alreadyStarted }
        do {
            try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    let outcome = withState { state in
                        if state.outcome == nil { state.starting = continuation }
                        return state.outcome
                    }
                    if let outcome { continuation.resume(with: outcome) }
                }
            } onCancel: {
                finishStart(.failure(CancellationError()))
            }
        } catch {
            stop()
            throw error
        }
    }

    private func begin(
        _ makeManager: (any CBPeripheralManagerDelegate, DispatchQueue) -> CBPeripheralManager
    ) -> Bool {
        guard withState({ $0.manager == nil }) else { return false }
        let manager = Unchecked(makeManager(self, queue))
        withState { state in
            state.manager = manager.value
            state.outcome = nil
        }
        #if !canImport(Darwin)
        let radioClock = manager.value.clock
        time.withLock { $0 = (radioClock, SubscriptionTimers(radioClock)) }
        #endif
        let context = ServerContext(clock: clock, timers: timers)
        for server in servers { server.start(context) }
        return true
    }

    /// Ends the start: once.
    func finishStart(_ result: Result<Void, any Error>) {
        let starting = withState { state in
            defer { state.starting = nil }
            if state.outcome == nil { state.outcome = result }
            return state.starting
        }
        starting?.resume(with: result)
    }

    /// The start, or what the return of the adapter began, is not possible.
    func fail(_ error: SimulatedDeviceError) {
        tell(.failed(error))
        finishStart(.failure(error))
    }

    func stop() {
        finishStart(.failure(SimulatedDeviceError.stopped))
        let manager = withState { state in
            defer { state = State() }
            return Unchecked(state.manager)
        }.value
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
            fail(.unavailable(new))
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
                guard !state.isSending, !state.isAnswering, let manager = state.manager,
                    let first = state.waiting.first,
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
            tell(about: object) { .notified(service: $0, characteristic: object.uuid, value: data) }
        }
    }
}
