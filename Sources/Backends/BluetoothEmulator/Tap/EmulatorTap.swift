import BluetoothBackend
import BluetoothSupport
import DequeModule
import Dispatch

/// An active observation of all events on the emulated air; see ``Emulator/tap(_:limit:_:)``.
///
/// ``cancel()`` ends it, and so does releasing its last reference.
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

    /// Waits until all events so far have been received.
    package func delivered() async {
        await withCheckedContinuation { continuation in receiver.afterDelivery { continuation.resume() } }
    }

    /// Ends delivery; an event that is being received is the last one.
    package func cancel() {
        receiver.cancel()
        remove()
    }

    /// Ends delivery after the events so far, and waits until they have been received; the receiver must not call this.
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
    /// Observes the events in this world; any number of taps can run at once, and none changes the world.
    ///
    /// A tap first receives a description of the present world: hosts, devices, links; then ``TapEvent/Kind/began``.
    /// Events are received in the order in which they happen, one at a time, on a queue of the tap, outside every lock:
    /// `receive` may call the emulator. In virtual time, an instant ends only after all its events have been received,
    /// unless the receiver may lag: then time stops only while half of the limit is waiting, and at the end of a run.
    ///
    /// - Parameters:
    ///   - kinds: The events to report; others cost nothing.
    ///   - limit: The maximum number of events that wait for a slow receiver; ``TapEvent/Kind/dropped(_:)`` reports
    ///     those that are dropped beyond it.
    ///   - mayLag: Whether virtual time may run ahead of the receiver, which then must not call the emulator.
    ///   - receive: Receives the events; must not retain the tap.
    /// - Returns: The tap; retain it to keep receiving events.
    package func tap(
        _ kinds: TapKinds = .all, limit: Int = 100_000, mayLag: Bool = false,
        _ receive: @escaping @Sendable (TapEvent) -> Void
    ) -> EmulatorTap {
        let receiver = TapReceiver(limit: limit, mayLag: mayLag, receive)
        let number = perform { $0.addTap(receiver, kinds) }
        return EmulatorTap(self, number, receiver)
    }
}

/// The receiver of a tap: a bounded queue of events, and the dispatch queue that receives them.
final class TapReceiver: EventSink {
    private struct State {
        var pending = Deque<TapEvent>()
        /// The number of events dropped after the pending ones, and the time of the first dropped one.
        var dropped: (count: Int, since: Duration)?
        /// Whether the pending events will be received as soon as possible.
        var isScheduled = false
        /// Whether the pending events will be received after the delay at the latest.
        var isTimed = false
        /// Whether a batch of events is being received.
        var isReceiving = false
        var isCancelled = false
        var waiters: [@Sendable () -> Void] = []
    }

    /// The number of events that a lagging receiver handles together, unless the delay ends first; waking its queue for
    /// each event would cost more than most receivers do with it.
    private static let batchSize = 512
    private static let batchDelay = DispatchTimeInterval.milliseconds(5)

    let label = "emulator tap"
    private let queue = DispatchQueue(label: "CoreBluetooth emulator tap")
    private let limit: Int
    private let mayLag: Bool
    private let receive: @Sendable (TapEvent) -> Void
    private let state = Lock(State())

    /// Whether virtual time must wait for the receiver before it leaves an instant.
    var holdsInstant: Bool { !mayLag || state.withLock { $0.pending.count > limit / 2 } }

    /// Whether events are still to be received; false for a receiver that virtual time waits for at each instant.
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

    /// Changes the state, and schedules the pending events.
    ///
    /// - Parameter change: Changes the state; returns whether the events may wait for the delay.
    private func schedule(_ change: (inout State) -> Bool) {
        let (mustSchedule, mayWait) = state.withLock { state -> (Bool, Bool) in
            let mayWait = change(&state)
            guard !state.isScheduled, !mayWait || !state.isTimed else { return (false, mayWait) }
            if mayWait { state.isTimed = true } else { state.isScheduled = true }
            return (true, mayWait)
        }
        guard mustSchedule else { return }
        if mayWait {
            queue.asyncAfter(machineDeadline: .now() + Self.batchDelay) { self.drain() }
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

    /// Waits until all events so far have been received.
    func finish() { queue.sync { drain() } }

    /// Receives the pending events; runs on the queue.
    private func drain() {
        state.withLock { $0.isTimed = false }
        while let (batch, waiters) = nextBatch() {
            for event in batch where !state.withLock({ $0.isCancelled }) { receive(event) }
            for waiter in waiters { waiter() }
        }
    }

    /// Removes and returns the pending events, or the closures that wait for the last of them; nil if both are empty.
    private func nextBatch() -> (Deque<TapEvent>, [@Sendable () -> Void])? {
        state.withLock { state in
            if let (count, since) = state.dropped {
                state.pending.append(TapEvent(time: since, kind: .dropped(count)))
                state.dropped = nil
            }
            state.isReceiving = !state.pending.isEmpty
            if state.isReceiving { return (exchange(&state.pending, with: []), []) }
            guard !state.waiters.isEmpty else {
                state.isScheduled = false
                return nil
            }
            return ([], exchange(&state.waiters, with: []))
        }
    }
}
