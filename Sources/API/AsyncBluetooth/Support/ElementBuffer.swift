import BluetoothSupport
import DequeModule

/// Elements of a sequence that wait for its consumers, up to a limit.
///
/// Several consumers may wait at once: one of them receives each element. A cancelled consumer receives none.
final class ElementBuffer<Element: Sendable>: Sendable {
    /// The result of a consumer's call.
    enum Next: Sendable {
        case element(Element)
        case end((any Error)?)
        case cancelled
    }

    /// The consumers that wait; whoever removes one resumes it, so unsafe continuations suffice.
    private typealias Waiters = [UInt64: UnsafeContinuation<Void, Never>]

    private struct State {
        var elements: Deque<Element> = []
        var waiters: Waiters = [:]
        var waiterCount: UInt64 = 0
        var isFinished = false
        var error: (any Error)?
        var droppedCount = 0
        /// Whether elements were dropped since the buffer was last empty.
        var hasGap = false

        mutating func takeWaiters() -> Waiters { exchange(&waiters, with: [:]) }
    }

    private let state: Lock<State>
    private let policy: BufferingPolicy
    private let context: BluetoothError.Context
    private let log: Log
    /// Called when the buffer is empty again after elements were dropped.
    private let onGapRead: @Sendable () -> Void

    /// - Parameters:
    ///   - policy: The number of elements that may wait.
    ///   - context: The source of the elements, for the error and the log line of an overflow.
    ///   - log: Receives that line.
    ///   - first: The first element, if it exists already.
    ///   - onGapRead: Called when the consumers have read all waiting elements and others were dropped.
    init(
        _ policy: BufferingPolicy, _ context: BluetoothError.Context, _ log: Log, first: Element? = nil,
        onGapRead: @escaping @Sendable () -> Void = {}
    ) {
        state = Lock(State(elements: first.map { [$0] } ?? []))
        self.policy = policy
        self.context = context
        self.log = log
        self.onGapRead = onGapRead
    }

    var droppedCount: Int { state.withLock { $0.droppedCount } }

    // MARK: The producer

    /// Appends an element; dropped once the sequence is finished.
    ///
    /// - Parameter isSuperseded: Whether the new element replaces a waiting one.
    /// - Returns: Whether the element was accepted.
    @discardableResult
    func append(_ element: Element, inPlaceOf isSuperseded: ((Element) -> Bool)? = nil) -> Bool {
        // Dropped elements are released outside the lock.
        let (waiters, dropped, isKept, isFirstDrop) = state.withLock {
            state -> (Waiters, Element?, Bool, Bool) in
            guard !state.isFinished else { return ([:], element, false, false) }
            if let isSuperseded, let index = state.elements.firstIndex(where: isSuperseded) {
                let old = state.elements[index]
                state.elements[index] = element
                return ([:], old, true, false)
            }
            guard state.elements.count >= policy.limit else {
                state.elements.append(element)
                return (state.takeWaiters(), nil, true, false)
            }
            state.droppedCount += 1
            state.hasGap = true
            let isFirstDrop = state.droppedCount == 1
            switch policy.overflow {
            case .dropOldest:
                let oldest = state.elements.removeFirst()
                state.elements.append(element)
                return ([:], oldest, true, isFirstDrop)
            case .dropNewest: return ([:], element, false, isFirstDrop)
            case .fail:
                state.isFinished = true
                state.error = BluetoothError(context, .bufferOverflow(limit: policy.limit))
                return ([:], element, false, isFirstDrop)
            }
        }
        withExtendedLifetime(dropped) {}
        if isFirstDrop { logOverflow() }
        for waiter in waiters.values { waiter.resume() }
        return isKept
    }

    /// Ends the sequence after the waiting elements; only the first end has an effect.
    func finish(_ error: (any Error)? = nil) {
        let waiters = state.withLock { state -> Waiters in
            guard !state.isFinished else { return [:] }
            state.isFinished = true
            state.error = error
            return state.takeWaiters()
        }
        for waiter in waiters.values { waiter.resume() }
    }

    private func logOverflow() {
        let rule =
            switch policy.overflow {
            case .dropOldest: "the oldest is dropped for each new one"
            case .dropNewest: "new ones are dropped"
            case .fail: "the sequence ends"
            }
        log.warning(.buffer, "\(context): \(policy.limit) elements wait for a slow consumer; \(rule)", context)
    }

    // MARK: The consumers

    /// Removes the waiting elements.
    ///
    /// - Throws: The error with which the sequence has ended.
    func discard() throws {
        let (old, error) = state.withLock { (exchange(&$0.elements, with: []), $0.error) }
        withExtendedLifetime(old) {}
        if let error { throw error }
    }

    /// Returns the next element as soon as it exists.
    ///
    /// A cancellation affects only this call, not the buffer or the next call.
    func next(isolation: isolated (any Actor)? = #isolation) async -> Next {
        while !Task.isCancelled {
            if let next = popFirst() { return next }
            await waitForElement()
        }
        return .cancelled
    }

    private func popFirst() -> Next? {
        let (next, isGapRead) = state.withLock { state -> (Next?, Bool) in
            if let first = state.elements.popFirst() {
                guard state.hasGap, state.elements.isEmpty else { return (.element(first), false) }
                state.hasGap = false
                return (.element(first), true)
            }
            return (state.isFinished ? .end(state.error) : nil, false)
        }
        if isGapRead { onGapRead() }
        return next
    }

    /// Waits for an element, the end of the sequence, or the cancellation of the task.
    private func waitForElement(isolation: isolated (any Actor)? = #isolation) async {
        let id = state.withLock { state in
            state.waiterCount += 1
            return state.waiterCount
        }
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let mustWait = state.withLock { state in
                    // A cancellation that came before has not found this waiter.
                    guard state.elements.isEmpty, !state.isFinished, !Task.isCancelled else { return false }
                    state.waiters[id] = continuation
                    return true
                }
                if !mustWait { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: id) }?.resume()
        }
    }
}

/// The number of elements of a sequence that wait for a slow consumer, and the treatment of further ones.
///
/// The first lost element is logged at level `warning`, with the device and the attribute;
/// ``ValueSequence/Iterator/droppedCount`` and ``EventSequence/Iterator/droppedCount`` count every lost one.
public struct BufferingPolicy: Hashable, Sendable {
    enum Overflow: Hashable, Sendable {
        case dropOldest, dropNewest, fail
    }

    let overflow: Overflow
    let limit: Int

    private init(_ overflow: Overflow, _ limit: Int) {
        self.overflow = overflow
        self.limit = max(1, limit)
    }

    /// Stores the newest `limit` elements, at least 1: a further element replaces the oldest one.
    public static func newest(_ limit: Int) -> BufferingPolicy { BufferingPolicy(.dropOldest, limit) }

    /// Stores the oldest `limit` elements, at least 1: further elements are dropped.
    public static func oldest(_ limit: Int) -> BufferingPolicy { BufferingPolicy(.dropNewest, limit) }

    /// Ends the sequence at the first element beyond `limit`, at least 1.
    ///
    /// A ``ValueSequence`` throws ``BluetoothError/Reason/bufferOverflow(limit:)`` after the waiting elements; an
    /// ``EventSequence`` ends.
    public static func failing(beyond limit: Int) -> BufferingPolicy { BufferingPolicy(.fail, limit) }

    /// Stores every element, without a bound on memory: for devices that the app trusts.
    public static let unbounded = BufferingPolicy(.dropOldest, .max)

    /// The newest 1,024 elements: for values of 20 bytes, some 64 kilobytes.
    public static let standard = BufferingPolicy.newest(1_024)
}
