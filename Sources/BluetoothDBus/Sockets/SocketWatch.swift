#if os(Linux)
package import Dispatch
import Glibc

/// Waits with Dispatch until a socket can be read or written, and closes it in the end.
///
/// A peer that hangs up makes the socket ready for both, once; whoever reads or writes then must go on until the kernel
/// says that there is no more.
///
/// Dispatch waits for an `epoll(7)` descriptor with the socket in it, not for the socket: while Dispatch handles a hangup of
/// what it waits for, it may use memory that another thread frees, and crash
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

    /// The socket, while this object lives.
    package var socket: CInt { descriptor.rawValue }

    /// Whether readability is waited for.
    package var isReading = false {
        didSet { if isReading != oldValue { arm() } }
    }

    /// Whether writability is waited for.
    package var isWriting = false {
        didSet { if isWriting != oldValue { arm() } }
    }

    /// Takes over a socket; waits for nothing yet.
    ///
    /// - Parameters:
    ///   - queue: A serial queue, on which the object is used.
    ///   - readable: Runs on the queue while there is something to read, or the peer has hung up.
    ///   - writable: Runs on the queue while there is room to write, or the peer has hung up.
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
        // A source must be gone before its descriptor is.
        source.setCancelHandler { [descriptor, epoll] in withExtendedLifetime((descriptor, epoll)) {} }
        source.activate()
    }

    deinit { cancel() }

    /// Another descriptor of the same socket, which is the caller's; negative where the process has too many.
    package func duplicate() -> CInt { fcntl(socket, F_DUPFD_CLOEXEC, 0) }

    /// Waits no more; the socket is closed soon.
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
        // What stays is not waited for without need, and a hangup is reported to each waiter once.
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
