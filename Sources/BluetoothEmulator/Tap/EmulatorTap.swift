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
        remove()
    }

    /// Ends delivery after the events so far, and returns when they were received; not to be called by the receiver.
    package func finish() {
        remove()
        receiver.finish()
    }

    private func remove() {
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
    /// call the emulator. In virtual time an instant is over only when all its events were received, unless the receiver
    /// may lag behind: then time stops only where half of the limit waits, and at the end of a run.
    ///
    /// - Parameters:
    ///   - kinds: The events to report; the others cost nothing.
    ///   - limit: The number of events that wait for a slow receiver at most; what is dropped then is reported as
    ///     ``TapEvent/Kind/dropped(_:)``.
    ///   - mayLag: Whether virtual time may run ahead of the receiver, which then does not call the emulator.
    ///   - receive: Must not retain the tap.
    /// - Returns: The tap, which the caller retains for as long as it wants events.
    package func tap(
        _ kinds: TapKinds = .all, limit: Int = 100_000, mayLag: Bool = false,
        _ receive: @escaping @Sendable (TapEvent) -> Void
    ) -> EmulatorTap {
        let receiver = TapReceiver(limit: limit, mayLag: mayLag, receive)
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
        /// Whether the queue receives what is pending as soon as it can.
        var isScheduled = false
        /// Whether the queue receives what is pending after the delay at the latest.
        var isTimed = false
        /// Whether events that were pending are being received.
        var isReceiving = false
        var isCancelled = false
        var waiters: [@Sendable () -> Void] = []
    }

    /// A receiver that may lag behind gets this many events together, or what is pending after the delay: waking its queue for
    /// each event costs more than most receivers do with it.
    private static let batchSize = 512
    private static let batchDelay = DispatchTimeInterval.milliseconds(5)

    let label = "emulator tap"
    private let queue = DispatchQueue(label: "CoreBluetooth emulator tap")
    private let limit: Int
    private let mayLag: Bool
    private let receive: @Sendable (TapEvent) -> Void
    private let state = Lock(State())

    /// Whether virtual time has to wait for it before it leaves an instant.
    var holdsInstant: Bool { !mayLag || state.withLock { $0.pending.count > limit / 2 } }

    /// Whether it has not received all events; false for one that virtual time has waited for at each instant.
    var isBehind: Bool { mayLag && state.withLock { $0.isReceiving || !$0.pending.isEmpty } }

    init(limit: Int, mayLag: Bool, _ receive: @escaping @Sendable (TapEvent) -> Void) {
        self.limit = max(1, limit)
        self.mayLag = mayLag
        self.receive = receive
    }

    func deliver(_ event: TapEvent) {
        schedule { state in
            append(event, to: &state)
            return mayLag && state.pending.count < Self.batchSize
        }
    }

    private func append(_ event: TapEvent, to state: inout State) {
        guard !state.isCancelled else { return }
        if state.pending.count < limit { return state.pending.append(event) }
        state.dropped = ((state.dropped?.count ?? 0) + 1, state.dropped?.since ?? event.time)
    }

    func afterDelivery(_ body: @escaping @Sendable () -> Void) {
        schedule { state in
            state.waiters.append(body)
            return false
        }
    }

    /// Changes the state, and lets the queue receive what is pending.
    ///
    /// - Parameter change: Returns whether that may wait for the delay.
    private func schedule(_ change: (inout State) -> Bool) {
        let (mustSchedule, mayWait) = state.withLock { state -> (Bool, Bool) in
            let mayWait = change(&state)
            guard !state.isScheduled, !mayWait || !state.isTimed else { return (false, mayWait) }
            if mayWait { state.isTimed = true } else { state.isScheduled = true }
            return (true, mayWait)
        }
        guard mustSchedule else { return }
        if mayWait {
            queue.asyncAfter(deadline: .now() + Self.batchDelay) { self.drain() }
        } else {
            queue.async { self.drain() }
        }
    }

    func cancel() {
        state.withLock { state in
            state.isCancelled = true
            (state.pending, state.dropped) = ([], nil)
        }
    }

    /// Returns when all events so far were received.
    func finish() { queue.sync { drain() } }

    /// Receives what is pending; runs on the queue.
    private func drain() {
        state.withLock { $0.isTimed = false }
        while let (batch, waiters) = nextBatch() {
            for event in batch where !state.withLock({ $0.isCancelled }) { receive(event) }
            for waiter in waiters { waiter() }
        }
    }

    /// The events that are pending, or those who wait for the last of them; nil where there is neither.
    private func nextBatch() -> (Deque<TapEvent>, [@Sendable () -> Void])? {
        state.withLock { state in
            if let (count, since) = state.dropped {
                state.pending.append(TapEvent(time: since, kind: .dropped(count)))
                state.dropped = nil
            }
            state.isReceiving = !state.pending.isEmpty
            if state.isReceiving {
                defer { state.pending = [] }
                return (state.pending, [])
            }
            guard !state.waiters.isEmpty else {
                state.isScheduled = false
                return nil
            }
            defer { state.waiters = [] }
            return ([], state.waiters)
        }
    }
}
