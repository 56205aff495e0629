import BluetoothSupport
import DequeModule

/// The last events of a world, for any number of readers, each at its speed.
///
/// The log keeps ``limit`` events regardless of readers: a reader that falls behind learns how many it missed.
package final class EventLog: Sendable {
    /// The number of events that are kept.
    package static let limit = 10_000

    fileprivate struct State {
        var events = Deque<LiveEvent>()
        var lastSequence: UInt64 = 0
        var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
        var lastWaiter: UInt64 = 0
        var isClosed = false
    }

    private let state = Lock(State())

    package init() {}

    /// The number of the last event; 0 before the first.
    package var lastSequence: UInt64 { state.withLock { $0.lastSequence } }

    /// Adds events of one instant, numbered from the last one on.
    ///
    /// - Parameter time: The time since the world began, in seconds.
    package func append(_ kinds: [LiveEvent.Kind], at time: Double) {
        guard !kinds.isEmpty else { return }
        let waiters = state.withLock { state in
            for kind in kinds {
                state.lastSequence += 1
                if state.events.count == Self.limit { state.events.removeFirst() }
                state.events.append(LiveEvent(sequence: state.lastSequence, time: time, kind))
            }
            return state.takeWaiters()
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Returns the events after one, at most 1,000; those that are no longer kept are one
    /// ``LiveEvent/Kind/dropped(_:)``.
    package func events(after sequence: UInt64) -> [LiveEvent] {
        state.withLock { state in
            let first = state.lastSequence - UInt64(state.events.count) + 1
            let next = sequence < UInt64.max ? sequence + 1 : sequence
            let dropped = next < first ? [LiveEvent(.dropped(Int(first - next)))] : []
            let start = next < first ? 0 : Int(min(next - first, UInt64(state.events.count)))
            return dropped + state.events.dropFirst(start).prefix(1_000)
        }
    }

    /// Waits for an event after one, for ``wake()``, ``close()``, or the end of the task.
    ///
    /// - Returns: Whether the log continues.
    package func wait(after sequence: UInt64) async -> Bool {
        let number = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let mustWait = state.withLock { state in
                    guard state.lastSequence <= sequence, !state.isClosed, !Task.isCancelled else { return false }
                    state.waiters[number] = continuation
                    return true
                }
                if !mustWait { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: number) }?.resume()
        }
        return !Task.isCancelled && !state.withLock { $0.isClosed }
    }

    /// Wakes all readers; those without a new event send a heartbeat.
    package func wake() {
        for waiter in state.withLock({ $0.takeWaiters() }) { waiter.resume() }
    }

    /// Ends the log, and the waits of all readers.
    package func close() {
        let waiters = state.withLock { state in
            state.isClosed = true
            return state.takeWaiters()
        }
        for waiter in waiters { waiter.resume() }
    }
}

extension EventLog.State {
    fileprivate mutating func takeWaiters() -> [CheckedContinuation<Void, Never>] {
        Array(exchange(&waiters, with: [:]).values)
    }
}
