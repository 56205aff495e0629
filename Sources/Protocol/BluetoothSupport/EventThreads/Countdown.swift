#if os(Linux)
@_implementationOnly import CBluetoothKernel
import Glibc

/// A `timerfd(2)`, which is readable once its time is over.
///
/// Any thread. The C module that declares the calls is imported for the implementation alone; see `LibDBus`.
package final class Countdown: Sendable {
    /// The descriptor, valid while this object lives.
    package let descriptor: CInt

    /// - Returns: nil if the process has no descriptor left.
    package init?() {
        descriptor = timerfd_create(CLOCK_MONOTONIC, CInt(TFD_CLOEXEC | TFD_NONBLOCK))
        guard descriptor >= 0 else { return nil }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Starts anew; zero stops it.
    package func start(nanoseconds: Int) {
        // Fails only for an invalid descriptor or time.
        _ = bluetooth_start_timer(descriptor, Int64(nanoseconds))
    }

    /// Waits until the time is over.
    ///
    /// - Returns: False if a signal interrupted the wait.
    package func wait() -> Bool {
        var waiting = pollfd(fd: descriptor, events: CShort(POLLIN), revents: 0)
        return poll(&waiting, 1, -1) > 0
    }

    /// Returns whether the time is over, once.
    package func takeEnd() -> Bool {
        var count: UInt64 = 0
        return withUnsafeMutableBytes(of: &count) { read(descriptor, $0.baseAddress, $0.count) } > 0
    }
}
#endif
