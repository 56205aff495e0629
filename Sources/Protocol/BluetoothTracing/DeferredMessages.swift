import BluetoothSupport

/// Messages that a wrapper of a backend defers: events arrive under the backend's lock, and are handled outside it.
final class DeferredMessages<Message: Sendable>: Sendable {
    private struct State: Sendable {
        var pending: [Message] = []
        var isHandling = false
    }

    private let state = Lock(State())

    /// Adds a message and does nothing else, so that it may be called under a backend's lock.
    func append(_ message: Message) { state.withLock { $0.pending.append(message) } }

    /// Handles the messages in order, unless another thread is doing so.
    func handle(_ body: ([Message]) -> Void) {
        while let messages = next() {
            body(messages)
            state.withLock { $0.isHandling = false }
        }
    }

    private func next() -> [Message]? {
        state.withLock { state in
            guard !state.isHandling, !state.pending.isEmpty else { return nil }
            state.isHandling = true
            return exchange(&state.pending, with: [])
        }
    }
}
