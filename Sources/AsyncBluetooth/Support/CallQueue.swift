/// The calls of CoreBluetooth that result from a change of state; one thread at a time performs them, outside the lock.
struct CallQueue<Call> {
    private var calls: [Call] = []
    private var isSubmitting = false

    mutating func append(_ call: Call) { calls.append(call) }

    mutating func removeAll(where isRemoved: (Call) -> Bool = { _ in true }) { calls.removeAll(where: isRemoved) }

    /// Whether the calling thread performs the calls, with ``next(where:)`` until it returns nil.
    mutating func begin() -> Bool {
        guard !isSubmitting, !calls.isEmpty else { return false }
        isSubmitting = true
        return true
    }

    /// The next call; nil ends the submitting: no call is left, or the present state allows none.
    mutating func next(where isAllowed: (Call) -> Bool) -> Call? {
        guard let first = calls.first, isAllowed(first) else {
            isSubmitting = false
            return nil
        }
        calls.removeFirst()
        return first
    }
}

/// Work that one thread at a time does, and that it repeats if another thread asked for it meanwhile.
struct Pump {
    private var isRunning = false
    private var isRequested = false

    /// Whether the calling thread does the work; otherwise the thread that does it repeats it.
    mutating func begin() -> Bool {
        isRequested = isRunning
        defer { isRunning = true }
        return !isRunning
    }

    /// Whether the work was requested again; otherwise it has ended.
    mutating func mustRepeat() -> Bool {
        defer { isRequested = false }
        isRunning = isRequested
        return isRunning
    }
}
