import BluetoothLocking
import Synchronization

/// Elements on their way to one consumer: those that come before it asks are kept.
final class Feed<Element: Sendable>: Sendable {
    /// What the consumer gets next.
    enum Step: Sendable {
        case elements([Element])
        case end((any Error)?)
        case cancelled
    }

    private struct State {
        var buffer: [Element] = []
        var isFinished = false
        var error: (any Error)?
        var isCancelled = false
        var consumer: CheckedContinuation<Void, Never>?
    }

    private let state = Lock(State())
    private let limit: Int

    /// - Parameter limit: How many elements are kept for a consumer that is late; the oldest go first.
    init(keeping limit: Int = .max) { self.limit = max(1, limit) }

    /// Appends an element; dropped once finished.
    func yield(_ element: Element) {
        wake { state in
            guard !state.isFinished else { return }
            if state.buffer.count >= limit { state.buffer.removeFirst() }
            state.buffer.append(element)
        }
    }

    /// Ends the feed behind what is there already; later ends are dropped.
    func finish(_ error: (any Error)? = nil) {
        wake { state in
            guard !state.isFinished else { return }
            state.isFinished = true
            state.error = error
        }
    }

    /// Drops what is there.
    func discard() {
        let old = state.withLock { state in
            defer { state.buffer = [] }
            return state.buffer
        }
        withExtendedLifetime(old) {}
    }

    /// All that is there, or what comes next.
    func next(isolation: isolated (any Actor)? = #isolation) async -> Step {
        while true {
            if Task.isCancelled { return .cancelled }
            if let step = take() { return step }
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let isReady = state.withLock { state -> Bool in
                        let isReady = !state.buffer.isEmpty || state.isFinished || state.isCancelled
                        if !isReady { state.consumer = continuation }
                        return isReady
                    }
                    if isReady { continuation.resume() }
                }
            } onCancel: {
                wake { $0.isCancelled = true }
            }
        }
    }

    private func take() -> Step? {
        state.withLock { state -> Step? in
            if !state.buffer.isEmpty {
                defer { state.buffer = [] }
                return .elements(state.buffer)
            }
            return state.isFinished ? .end(state.error) : nil
        }
    }

    private func wake(_ change: (inout State) -> Void) {
        let consumer = state.withLock { state -> CheckedContinuation<Void, Never>? in
            change(&state)
            defer { state.consumer = nil }
            return state.consumer
        }
        consumer?.resume()
    }
}
