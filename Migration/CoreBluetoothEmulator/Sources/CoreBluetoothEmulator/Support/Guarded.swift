import Foundation

/// A value that is accessed under a lock.
final class Guarded<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) { self.value = value }

    /// Reads or changes the value.
    ///
    /// `body` must not call app code or release a manager, which take locks when they end. Under the lock of a manager,
    /// those of its attributes may be taken, and no others.
    func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
