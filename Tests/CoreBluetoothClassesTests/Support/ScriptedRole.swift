import BluetoothBackend
import BluetoothSupport
import Synchronization

/// A role of a ``ScriptedBackend``, which records commands and sends a test's events.
protocol ScriptedRole: RoleBackend {
    var script: RoleScript<Command, Event> { get }
}

/// The commands that a ``ScriptedRole`` received, and the sink of its events.
final class RoleScript<Command: Sendable, Event: Sendable>: Sendable {
    fileprivate struct State {
        var sink: (any EventSink<Event>)?
        var commands: [Command] = []
        var isInvalidated = false
        var waiting: [CheckedContinuation<Void, Never>] = []

        /// Takes the continuations that wait for the activation.
        mutating func takeWaiting() -> [CheckedContinuation<Void, Never>] { exchange(&waiting, with: []) }
    }

    fileprivate let state = Lock(State())

    fileprivate func change(_ body: (inout State) -> Void) {
        let due = state.withLock { state in
            body(&state)
            return state.takeWaiting()
        }
        for waiter in due { waiter.resume() }
    }
}

extension ScriptedRole {
    func activate(_ sink: any EventSink<Event>) { script.change { $0.sink = sink } }
    func submit(_ command: Command) { script.state.withLock { $0.commands.append(command) } }

    func invalidate() {
        script.change { state in
            state.isInvalidated = true
            state.sink = nil
        }
    }

    /// Returns when the role has been activated, or invalidated.
    func activated() async {
        await withCheckedContinuation { continuation in
            let isDue = script.state.withLock { state in
                if state.sink != nil || state.isInvalidated { return true }
                state.waiting.append(continuation)
                return false
            }
            if isDue { continuation.resume() }
        }
    }

    var isInvalidated: Bool { script.state.withLock { $0.isInvalidated } }
    var commands: [Command] { script.state.withLock { $0.commands } }

    func send(_ events: Event...) { send(events) }

    private func send(_ events: [Event]) {
        let sink = script.state.withLock { $0.sink }
        for event in events { sink?.deliver(event) }
    }

    /// Sends an event without having it handled.
    func append(_ event: Event) -> (any PendingDelivery)? { script.state.withLock { $0.sink }?.append(event) }

    /// Returns when all sent events have been handled.
    func settle() async {
        guard let sink = script.state.withLock({ $0.sink }) else { return }
        await withCheckedContinuation { continuation in
            sink.afterDelivery { continuation.resume() }
        }
    }

    /// Sends events, and returns when they have been handled.
    func play(_ events: Event...) async {
        send(events)
        await settle()
    }
}
