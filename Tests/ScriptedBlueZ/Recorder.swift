#if os(Linux)
import BluetoothSupport
import Synchronization

/// Stores elements in order, and lets a test wait for some of them.
public final class Recorder<Element: Sendable>: Sendable {
    /// The error of a wait that timed out.
    public struct TimedOut: Error, CustomStringConvertible {
        /// The elements that were recorded instead.
        public let description: String
    }

    private struct Waiter: Sendable {
        let id: UInt64
        let condition: @Sendable ([Element]) -> Bool
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var elements: [Element] = []
        var waiters: [Waiter] = []
        var nextID: UInt64 = 0
    }

    private let state = Lock(State())

    /// Creates an empty recorder.
    public init() {}

    /// All elements so far.
    public var elements: [Element] { state.withLock { $0.elements } }

    /// Appends an element.
    ///
    /// Any thread.
    public func append(_ element: Element) {
        let done = state.withLock { state -> [Waiter] in
            state.elements.append(element)
            let elements = state.elements
            let done = state.waiters.filter { $0.condition(elements) }
            state.waiters.removeAll { waiter in done.contains { $0.id == waiter.id } }
            return done
        }
        for waiter in done { waiter.continuation.resume(returning: true) }
    }

    /// Removes all elements so far.
    public func removeAll() {
        state.withLock { $0.elements = [] }
    }

    /// Waits until the elements fulfill a condition.
    ///
    /// - Throws: ``TimedOut`` after the deadline, which only a broken program reaches.
    @discardableResult
    public func wait(
        deadline: Duration = .seconds(20), until condition: @escaping @Sendable ([Element]) -> Bool
    ) async throws -> [Element] {
        try await wait(deadline: deadline, unless: condition, until: condition)
    }

    /// Waits until a condition is fulfilled after a new element, unless the elements fulfill another one already.
    private func wait(
        deadline: Duration, unless isDone: ([Element]) -> Bool,
        until condition: @escaping @Sendable ([Element]) -> Bool
    ) async throws -> [Element] {
        let id = state.withLock { state -> UInt64 in
            state.nextID += 1
            return state.nextID
        }
        let timer = Task { [weak self] in
            try await Task.sleep(for: deadline)
            self?.expire(id)
        }
        let done = await withCheckedContinuation { continuation in
            let isDone = state.withLock { state -> Bool in
                if isDone(state.elements) { return true }
                state.waiters.append(Waiter(id: id, condition: condition, continuation: continuation))
                return false
            }
            if isDone { continuation.resume(returning: true) }
        }
        timer.cancel()
        guard done else { throw TimedOut(description: "only: \(elements)") }
        return elements
    }

    /// Waits for the first element that fulfills a condition.
    @discardableResult
    public func first(
        deadline: Duration = .seconds(20), where condition: @escaping @Sendable (Element) -> Bool
    ) async throws -> Element {
        let elements = try await wait(
            deadline: deadline, unless: { $0.contains(where: condition) }, until: { $0.last.map(condition) == true })
        guard let element = elements.first(where: condition) else { throw TimedOut(description: "removed meanwhile") }
        return element
    }

    private func expire(_ id: UInt64) {
        let waiter = state.withLock { state -> Waiter? in
            guard let index = state.waiters.firstIndex(where: { $0.id == id }) else { return nil }
            return state.waiters.remove(at: index)
        }
        waiter?.continuation.resume(returning: false)
    }
}
#endif
