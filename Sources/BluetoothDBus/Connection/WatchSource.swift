#if os(Linux)
import CBluetoothDBus
import Dispatch
import Glibc

/// Waits with a Dispatch source for what one libdbus watch asks for: readable or writable.
///
/// It waits on a duplicate of the descriptor, which is closed only after the source was cancelled; libdbus may close
/// its own at any moment.
// Invariant: `isEnabled` and `watch` are touched only under the connection's lock, which is held around every
// call into libdbus, and so in all of its callbacks.
final class WatchSource: @unchecked Sendable {
    private var watch: OpaquePointer?
    private var isEnabled = false
    private let source: any DispatchSourceProtocol
    private let flags: CUnsignedInt

    /// - Returns: `nil` where the process is out of descriptors.
    init?(watch: OpaquePointer, queue: DispatchQueue, ready: @escaping @Sendable (WatchSource) -> Void) {
        let descriptor = fcntl(dbus_watch_get_unix_fd(watch), F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else { return nil }
        self.watch = watch
        flags = dbus_watch_get_flags(watch)
        let readable = flags & DBUS_WATCH_READABLE.rawValue != 0
        source =
            readable
            ? DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
            : DispatchSource.makeWriteSource(fileDescriptor: descriptor, queue: queue)
        source.setCancelHandler { close(descriptor) }
        source.setEventHandler { [weak self] in
            guard let self else { return }
            ready(self)
        }
        update()
    }

    /// Follows the watch's "enabled" flag.
    ///
    /// Under the connection's lock.
    func update() {
        guard let watch else { return }
        let wanted = dbus_watch_get_enabled(watch) != 0
        guard wanted != isEnabled else { return }
        isEnabled = wanted
        if wanted { source.resume() } else { source.suspend() }
    }

    /// Lets libdbus read or write.
    ///
    /// Under the connection's lock.
    func handle() {
        guard let watch, isEnabled else { return }
        dbus_watch_handle(watch, flags & (DBUS_WATCH_READABLE.rawValue | DBUS_WATCH_WRITABLE.rawValue))
    }

    /// Ends for good.
    ///
    /// Under the connection's lock.
    func cancel() {
        watch = nil
        source.cancel()
        // A suspended source would never run its cancel handler, and must not be released.
        if !isEnabled { source.resume() }
        isEnabled = false
    }
}
#endif
