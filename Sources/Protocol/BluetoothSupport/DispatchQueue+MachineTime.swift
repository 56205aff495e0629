package import Dispatch

#if canImport(Glibc)
package import Glibc
#elseif canImport(Musl)
package import Musl
#elseif canImport(Darwin)
package import Darwin
#endif

/// Calls of Dispatch that take the machine's time although the calling code may belong to a world in virtual time.
package enum MachineTime {
    private static let key = pthread_key_t.create()

    /// Whether the calling thread is in such a call.
    package static var isRequired: Bool { pthread_getspecific(key) != nil }

    fileprivate static func perform(_ body: () -> Void) {
        pthread_setspecific(key, UnsafeMutableRawPointer(bitPattern: 1))
        defer { pthread_setspecific(key, nil) }
        body()
    }
}

extension DispatchQueue {
    /// Runs a block at a time of the machine.
    ///
    /// This package's own code calls it in place of `asyncAfter(deadline:)`, which is virtual for code of a world.
    package func asyncAfter(
        machineDeadline: @autoclosure () -> DispatchTime, execute block: @escaping @Sendable () -> Void
    ) {
        MachineTime.perform { asyncAfter(deadline: machineDeadline(), execute: block) }
    }
}

extension pthread_key_t {
    /// Creates a key of thread-specific data, once for the process.
    package static func create() -> pthread_key_t {
        var key = pthread_key_t()
        let code = pthread_key_create(&key, nil)
        precondition(code == 0, "pthread_key_create: \(code)")
        return key
    }
}
