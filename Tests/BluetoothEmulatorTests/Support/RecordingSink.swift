import BluetoothBackend
import BluetoothSupport
import Dispatch
import Synchronization

/// A receiver that records events on its own queue, as a manager would, and can react to them.
final class RecordingSink: EventSink {
    private struct State {
        var pending: [CentralEvent] = []
        var isScheduled = false
        var events: [CentralEvent] = []
        var waiters: [@Sendable () -> Void] = []
    }

    let label = "recording sink"
    private let queue = DispatchQueue(label: "recording sink")
    private let state = Lock(State())
    private let reaction: @Sendable (CentralEvent) -> Void

    init(reaction: @escaping @Sendable (CentralEvent) -> Void = { _ in }) {
        self.reaction = reaction
    }

    /// The events handled so far.
    var events: [CentralEvent] { state.withLock { $0.events } }

    func deliver(_ event: CentralEvent) {
        state.withLock { $0.pending.append(event) }
        schedule()
    }

    func afterDelivery(_ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.waiters.append(body) }
        schedule()
    }

    private func schedule() {
        let mustSchedule = state.withLock { !exchange(&$0.isScheduled, with: true) }
        if mustSchedule { queue.async { self.drain() } }
    }

    private func drain() {
        while true {
            let (batch, waiters) = state.withLock { state -> ([CentralEvent], [@Sendable () -> Void]) in
                if !state.pending.isEmpty { return (exchange(&state.pending, with: []), []) }
                if state.waiters.isEmpty { state.isScheduled = false }
                return ([], exchange(&state.waiters, with: []))
            }
            if batch.isEmpty, waiters.isEmpty { return }
            for event in batch {
                state.withLock { $0.events.append(event) }
                reaction(event)
            }
            for waiter in waiters { waiter() }
        }
    }
}
