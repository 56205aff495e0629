import Foundation

/// A value that is reached under a lock.
// Invariant: `value` is touched only while `lock` is held.
final class Guarded<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) { self.value = value }

    /// Reads or changes the value.
    ///
    /// `body` calls no app code and releases no manager, as those take locks when they end. Within the lock of a manager,
    /// those of its attributes may be taken, and no others.
    func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
