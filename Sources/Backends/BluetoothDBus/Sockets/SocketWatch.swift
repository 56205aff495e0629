#if os(Linux)
package import Dispatch
import Glibc

/// Waits with Dispatch until a socket can be read or written, and closes it in the end.
///
/// A peer that hangs up makes the socket ready for both, once; the handler must then read or write until the kernel
/// reports that nothing is left.
///
/// Dispatch waits for an `epoll(7)` descriptor that contains the socket, not for the socket: while Dispatch handles a
/// hangup of its own descriptor, it may use memory that another thread frees, and crash
/// (https://github.com/swiftlang/swift-corelibs-libdispatch/issues/949). An `epoll` descriptor never hangs up.
// Invariant: used on the queue of the source only, and by `deinit`, when no other code can.
package final class SocketWatch: @unchecked Sendable {
    private let descriptor: DBusFileDescriptor
    private let epoll: Epoll
    private let source: any DispatchSourceRead
    private let readable: @Sendable () -> Void
    private let writable: @Sendable () -> Void
    private var isHandling = false
    private var isCancelled = false

    /// The socket, valid while this object lives.
    package var socket: CInt { descriptor.rawValue }

    /// Whether the watch waits until the socket is readable.
    package var isReading = false {
        didSet { if isReading != oldValue { arm() } }
    }

    /// Whether the watch waits until the socket is writable.
    package var isWriting = false {
        didSet { if isWriting != oldValue { arm() } }
    }

    /// Takes over a socket, without waiting for anything yet.
    ///
    /// - Parameters:
    ///   - queue: A serial queue, on which the object is used.
    ///   - readable: Runs on the queue while the socket is readable, or the peer has hung up.
    ///   - writable: Runs on the queue while the socket is writable, or the peer has hung up.
    /// - Throws: `LimitsExceeded` if the process has no descriptor left; the socket is closed then.
    package init(
        adopting socket: DBusFileDescriptor, queue: DispatchQueue, readable: @escaping @Sendable () -> Void,
        writable: @escaping @Sendable () -> Void = {}
    ) throws(DBusError) {
        descriptor = socket
        epoll = try Epoll()
        try epoll.add(socket.rawValue, .once)
        self.readable = readable
        self.writable = writable
        source = DispatchSource.makeReadSource(fileDescriptor: epoll.descriptor.rawValue, queue: queue)
        source.setEventHandler { [weak self] in self?.handle() }
        // A source must be released before its descriptor is closed.
        source.setCancelHandler { [descriptor, epoll] in withExtendedLifetime((descriptor, epoll)) {} }
        source.activate()
    }

    deinit { cancel() }

    /// Returns another descriptor of the same socket, which the caller closes; negative if the process has too many.
    package func duplicate() -> CInt { fcntl(socket, F_DUPFD_CLOEXEC, 0) }

    /// Stops waiting; the socket is closed soon.
    package func cancel() {
        guard !isCancelled else { return }
        isCancelled = true
        epoll.remove(socket)
        source.cancel()
    }

    private func handle() {
        guard !isCancelled, let events = epoll.next() else { return }
        let before = (isReading, isWriting)
        isHandling = true
        if isReading, !events.isDisjoint(with: [.readable, .error, .hangup]) { readable() }
        if isWriting, !isCancelled, !events.isDisjoint(with: [.writable, .error, .hangup]) { writable() }
        isHandling = false
        // Wait again only if a handler still wants it; a hangup is reported once.
        guard isReading || isWriting, !events.contains(.hangup) || before != (isReading, isWriting) else { return }
        arm()
    }

    /// Waits for the next event.
    private func arm() {
        guard !isHandling, !isCancelled else { return }
        var events = Epoll.Events.once
        if isReading { events.insert(.readable) }
        if isWriting { events.insert(.writable) }
        epoll.modify(socket, events)
    }
}
#endif
