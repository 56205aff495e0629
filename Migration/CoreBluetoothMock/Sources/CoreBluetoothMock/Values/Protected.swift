import Foundation

/// A value under a lock.
///
/// The lock is never held while code of the app or of a test runs. The caller uses returned objects by their rules:
/// wrappers may be called from any thread, and a delegate is called on its manager's queue.
final class Protected<Value>: @unchecked Sendable {
    // Invariant: `value` is accessed only under `lock`.
    private let lock = NSLock()
    private var value: Value

    /// Puts a value under a new lock.
    init(_ value: Value) { self.value = value }

    /// Runs `body` with exclusive access to the value.
    func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}

/// A reference that does not keep its object alive.
struct WeakReference<Object: AnyObject> {
    weak var object: Object?
    init(_ object: Object) { self.object = object }
}
