#if os(Linux)
import BluetoothDBus
import Dispatch
import Glibc

/// Waits with Dispatch until a socket can be read or written, and closes it in the end.
///
/// BlueZ pitfall: a peer that hangs up makes both ready, once; whoever reads or writes then must go on until the kernel
/// says that there is no more.
// Invariant: used on the queue of the sources only, and by `deinit`, when no other code can.
final class SocketWatch: @unchecked Sendable {
    private let descriptor: DBusFileDescriptor
    private let reads: any DispatchSourceProtocol
    private let writes: any DispatchSourceProtocol
    private var isCancelled = false

    /// The socket, while this object lives.
    var socket: CInt { descriptor.rawValue }

    /// Whether readability is waited for.
    var isReading = false {
        didSet { Self.set(reads, from: oldValue, to: isReading, isCancelled) }
    }

    /// Whether writability is waited for.
    var isWriting = false {
        didSet { Self.set(writes, from: oldValue, to: isWriting, isCancelled) }
    }

    /// Takes over a socket; waits for nothing yet.
    init(
        adopting socket: CInt, queue: DispatchQueue, readable: @escaping @Sendable () -> Void,
        writable: @escaping @Sendable () -> Void = {}
    ) {
        let descriptor = DBusFileDescriptor(adopting: socket)
        self.descriptor = descriptor
        reads = DispatchSource.makeReadSource(fileDescriptor: socket, queue: queue)
        writes = DispatchSource.makeWriteSource(fileDescriptor: socket, queue: queue)
        reads.setEventHandler(handler: readable)
        writes.setEventHandler(handler: writable)
        // Both keep the socket open: a source must be gone before its descriptor is.
        reads.setCancelHandler { withExtendedLifetime(descriptor) {} }
        writes.setCancelHandler { withExtendedLifetime(descriptor) {} }
    }

    deinit { cancel() }

    /// Another descriptor of the same socket, which is the caller's; negative where the process has too many.
    func duplicate() -> CInt { fcntl(socket, F_DUPFD_CLOEXEC, 0) }

    /// Waits no more; the socket is closed soon.
    func cancel() {
        guard !isCancelled else { return }
        isReading = false
        isWriting = false
        isCancelled = true
        for source in [reads, writes] {
            source.cancel()
            // A suspended source would never run its cancel handler, and must not be released.
            source.resume()
        }
    }

    private static func set(
        _ source: any DispatchSourceProtocol, from old: Bool, to new: Bool, _ isCancelled: Bool
    ) {
        guard old != new, !isCancelled else { return }
        if new { source.resume() } else { source.suspend() }
    }
}
#endif
