import BluetoothBackend
import BluetoothSupport
import DequeModule
import Dispatch

/// A running observation of everything that happens on the emulated air; see ``Emulator/tap(_:limit:_:)``.
///
/// Ends with its last reference or ``cancel()``.
package final class EmulatorTap: Sendable {
    private let emulator: Emulator
    private let number: UInt64
    private let receiver: TapReceiver

    fileprivate init(_ emulator: Emulator, _ number: UInt64, _ receiver: TapReceiver) {
        self.emulator = emulator
        self.number = number
        self.receiver = receiver
    }

    deinit { cancel() }

    /// Returns when all events so far were received.
    package func delivered() async {
        await withCheckedContinuation { continuation in receiver.afterDelivery { continuation.resume() } }
    }

    /// Ends delivery; an event that is being received is the last one.
    package func cancel() {
        receiver.cancel()
        let removed = emulator.core.withLock { $0.removeTap(number) }
        // Released outside the lock.
        withExtendedLifetime(removed) {}
    }
}

extension Emulator {
    /// Observes what happens in this world: any number of taps at once, none of which changes anything in it.
    ///
    /// A tap first describes the world as it is: hosts, devices, links; then comes ``TapEvent/Kind/began``. Events are
    /// received in the order in which they happen, one at a time, on a queue of the tap, outside every lock: `receive` may
    /// call the emulator. In virtual time an instant is over only when all its events were received.
    ///
    /// - Parameters:
    ///   - kinds: The events to report; the others cost nothing.
    ///   - limit: The number of events that wait for a slow receiver at most; what is dropped then is reported as
    ///     ``TapEvent/Kind/dropped(_:)``.
    ///   - receive: Must not retain the tap.
    /// - Returns: The tap, which the caller retains for as long as it wants events.
    package func tap(
        _ kinds: TapKinds = .all, limit: Int = 100_000, _ receive: @escaping @Sendable (TapEvent) -> Void
    ) -> EmulatorTap {
        let receiver = TapReceiver(limit: limit, receive)
        let number = perform { $0.addTap(receiver, kinds) }
        return EmulatorTap(self, number, receiver)
    }
}

/// The receiver of a tap: a bounded line of events, and the queue that they are received on.
final class TapReceiver: EventSink {
    private struct State {
        var pending = Deque<TapEvent>()
        /// The number of events that were dropped after the pending ones, and the time of the first.
        var dropped: (count: Int, since: Duration)?
        var isScheduled = false
        var isCancelled = false
        var waiters: [@Sendable () -> Void] = []
    }

    let label = "emulator tap"
    private let queue = DispatchQueue(label: "CoreBluetooth emulator tap")
    private let limit: Int
    private let receive: @Sendable (TapEvent) -> Void
    private let state = Lock(State())

    init(limit: Int, _ receive: @escaping @Sendable (TapEvent) -> Void) {
        self.limit = max(1, limit)
        self.receive = receive
    }

    func deliver(_ event: TapEvent) {
        schedule { state in
            guard !state.isCancelled else { return }
            if state.pending.count < limit { return state.pending.append(event) }
            state.dropped = ((state.dropped?.count ?? 0) + 1, state.dropped?.since ?? event.time)
        }
    }

    func afterDelivery(_ body: @escaping @Sendable () -> Void) {
        schedule { $0.waiters.append(body) }
    }

    func cancel() {
        state.withLock { state in
            state.isCancelled = true
            (state.pending, state.dropped) = ([], nil)
        }
    }

    private func schedule(_ change: (inout State) -> Void) {
        let mustSchedule = state.withLock { state -> Bool in
            change(&state)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if mustSchedule { queue.async { self.drain() } }
    }

    private func drain() {
        while true {
            let (batch, waiters) = state.withLock { state -> (Deque<TapEvent>, [@Sendable () -> Void]) in
                if let (count, since) = state.dropped {
                    state.pending.append(TapEvent(time: since, kind: .dropped(count)))
                    state.dropped = nil
                }
                if !state.pending.isEmpty {
                    defer { state.pending = [] }
                    return (state.pending, [])
                }
                defer { state.waiters = [] }
                if state.waiters.isEmpty { state.isScheduled = false }
                return ([], state.waiters)
            }
            if batch.isEmpty, waiters.isEmpty { return }
            for event in batch where !state.withLock({ $0.isCancelled }) { receive(event) }
            for waiter in waiters { waiter() }
        }
    }
}
