import BluetoothSupport

/// The consequences of a change of state, which follow outside the lock: calls of CoreBluetooth, performed by one
/// thread at a time, and resumed tasks.
struct CallQueue<Call> {
    private var calls: [Call] = []
    private var isSubmitting = false
    private var completions: [() -> Void] = []

    mutating func append(_ call: Call) { calls.append(call) }

    /// Appends a completion that follows the calls.
    mutating func complete(_ completion: @escaping () -> Void) { completions.append(completion) }

    /// Resumes waiting tasks after the calls.
    mutating func complete<Value>(_ waiters: inout [Waiter<Value>], _ result: Result<Value, any Error>) {
        for waiter in waiters { complete { waiter.finish(result) } }
        waiters = []
    }

    /// Releases a value outside the lock: objects that the app captured may use this object when they are released.
    mutating func release<Value>(_ value: Value) { completions.append { withExtendedLifetime(value) {} } }

    mutating func takeCompletions() -> [() -> Void] { exchange(&completions, with: []) }

    mutating func removeAll(where isRemoved: (Call) -> Bool = { _ in true }) { calls.removeAll(where: isRemoved) }

    /// Returns whether the calling thread performs the calls, with ``next(isAllowed:)`` until it returns nil.
    mutating func begin() -> Bool {
        guard !isSubmitting, !calls.isEmpty else { return false }
        isSubmitting = true
        return true
    }

    /// Returns the next call; nil ends the submitting: no call is left, or the present state allows none.
    mutating func next(isAllowed: Bool) -> Call? {
        isSubmitting = isAllowed && !calls.isEmpty
        return isSubmitting ? calls.removeFirst() : nil
    }
}

/// The state of a coordinator, whose changes have consequences outside the lock.
protocol CoordinatorState {
    associatedtype Call
    var calls: CallQueue<Call> { get set }

    /// Whether calls can be made now; they wait until then.
    var allowsCalls: Bool { get }
}

extension CoordinatorState {
    mutating func order(_ call: Call) { calls.append(call) }

    mutating func complete<Value>(_ waiter: Waiter<Value>, _ result: Result<Value, any Error>) {
        calls.complete { waiter.finish(result) }
    }
}

extension LockedState where State: CoordinatorState {
    /// Changes the state, then performs the resulting calls and resumes the resulting tasks.
    func transition<Result>(_ body: (inout State) -> Result, submit: (State.Call) -> Void) -> Result {
        let (result, completions, mustSubmit) = withLock { state in
            let result = body(&state)
            return (result, state.calls.takeCompletions(), state.calls.begin())
        }
        if mustSubmit {
            while let call = withLock({ $0.calls.next(isAllowed: $0.allowsCalls) }) { submit(call) }
        }
        for completion in completions { completion() }
        return result
    }
}

/// Work that one thread at a time does, and that it repeats if another thread requests it meanwhile.
struct Pump {
    private var isRunning = false
    private var isRequested = false

    /// Returns whether the calling thread does the work; otherwise the thread that does it repeats it.
    mutating func begin() -> Bool {
        isRequested = isRunning
        return !exchange(&isRunning, with: true)
    }

    /// Returns whether the work was requested again; otherwise it has ended.
    mutating func mustRepeat() -> Bool {
        isRunning = exchange(&isRequested, with: false)
        return isRunning
    }
}

/// Runs an action when its last reference is released.
final class DeinitAction: Sendable {
    private let action: @Sendable () -> Void

    init(_ action: @escaping @Sendable () -> Void) { self.action = action }

    deinit { action() }
}
