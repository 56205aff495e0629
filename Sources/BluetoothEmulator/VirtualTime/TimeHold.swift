import BluetoothSupport
import Synchronization

/// Keeps virtual time from going on while app code works that the emulator cannot see, such as a task.
///
/// Released by ``release()`` or with its last reference. Real time takes no notice.
public final class TimeHold: Sendable {
    @TaskLocal static var current: TimeHold?

    private let emulator: Emulator
    private let isActive: Lock<Bool>

    init(_ emulator: Emulator) {
        self.emulator = emulator
        isActive = Lock(false)
        retake()
    }

    deinit { release() }

    /// Lets time go on; harmless when done already.
    public func release() {
        let wasActive = isActive.withLock { isActive -> Bool in
            defer { isActive = false }
            return isActive
        }
        guard wasActive else { return }
        let waiters = emulator.core.withLock { core -> [@Sendable () -> Void] in
            core.virtual.holds -= 1
            core.virtual.isUnsettled = true
            guard core.virtual.holds == 0 else { return [] }
            defer { core.virtual.waiters = [] }
            return core.virtual.waiters
        }
        for waiter in waiters { waiter() }
    }

    /// Holds again, after a sleep on the emulator's clock.
    func retake() {
        let wasActive = isActive.withLock { isActive -> Bool in
            defer { isActive = true }
            return isActive
        }
        if !wasActive { emulator.core.withLock { $0.virtual.holds += 1 } }
    }
}

extension Emulator {
    /// Stops virtual time until the token is released, for code that the emulator cannot see.
    public func hold() -> TimeHold { TimeHold(self) }
}
