#if THREAD_SANITIZER
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The only lock of the package: mutual exclusion around a value.
///
/// ThreadSanitizer does not know the futex calls of `Synchronization.Mutex` and reports false races, so its builds
/// (`-DTHREAD_SANITIZER`) use a pthread mutex with the same interface.
public struct Lock<Value: ~Copyable>: ~Copyable,
    // Invariant: both are touched only between pthread_mutex_lock and pthread_mutex_unlock, and freed by the one owner.
    @unchecked Sendable
{
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let value: UnsafeMutablePointer<Value>

    /// Creates a lock around a value.
    public init(_ initialValue: consuming sending Value) {
        mutex = .allocate(capacity: 1)
        let code = pthread_mutex_init(mutex, nil)
        precondition(code == 0, "pthread_mutex_init: \(code)")
        value = .allocate(capacity: 1)
        value.initialize(to: initialValue)
    }

    deinit {
        value.deinitialize(count: 1)
        value.deallocate()
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Runs `body` with exclusive access to the value.
    public borrowing func withLock<Result: ~Copyable, E: Error>(
        _ body: (inout sending Value) throws(E) -> sending Result
    ) throws(E) -> sending Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value.pointee)
    }
}
#else
public import Synchronization

/// The only lock of the package: mutual exclusion around a value.
///
/// Never held while app code runs.
public struct Lock<Value: ~Copyable>: ~Copyable, Sendable {
    @usableFromInline let mutex: Mutex<Value>

    /// Creates a lock around a value.
    @inlinable
    public init(_ initialValue: consuming sending Value) { mutex = Mutex(initialValue) }

    /// Runs `body` with exclusive access to the value.
    @inlinable
    public borrowing func withLock<Result: ~Copyable, E: Error>(
        _ body: (inout sending Value) throws(E) -> sending Result
    ) throws(E) -> sending Result {
        try mutex.withLock(body)
    }
}
#endif
