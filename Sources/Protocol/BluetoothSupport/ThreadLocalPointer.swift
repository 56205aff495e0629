#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A pointer that each thread has for itself, nil at first.
package struct ThreadLocalPointer: Sendable {
    private let key: pthread_key_t

    /// Creates the pointer, for the rest of the process.
    package init() {
        var key = pthread_key_t()
        let code = pthread_key_create(&key, nil)
        precondition(code == 0, "pthread_key_create: \(code)")
        self.key = key
    }

    package var value: UnsafeMutableRawPointer? { pthread_getspecific(key) }

    /// Runs `body` with a value, and restores the former one.
    package func withValue<Result>(
        _ value: UnsafeMutableRawPointer?, _ body: () throws -> Result
    ) rethrows -> Result {
        let outer = self.value
        pthread_setspecific(key, value)
        defer { pthread_setspecific(key, outer) }
        return try body()
    }
}

/// A property of the code that runs on a thread, from the beginning to the end of a call.
package struct ThreadMark: Sendable {
    private let pointer = ThreadLocalPointer()

    package init() {}

    /// Whether the calling thread is in ``perform(_:)``.
    package var isSet: Bool { pointer.value != nil }

    /// Runs `body` with the mark set.
    package func perform(_ body: () -> Void) { pointer.withValue(UnsafeMutableRawPointer(bitPattern: 1), body) }
}
