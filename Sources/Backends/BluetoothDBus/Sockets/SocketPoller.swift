#if os(Linux)
package import BluetoothSupport
package import Dispatch
import Glibc

/// A thread that polls a socket and handles its events on a queue without a thread switch.
///
/// A Dispatch source wakes two threads for each event, one that waits and one for the queue, and makes four more system
/// calls than `poll(2)`. `DispatchQueue.sync` from the polling thread runs on that same thread while the queue is idle.
///
/// The polling thread can also run work that must happen off the queue; see ``EventThreads``.
///
/// The owner of a poller ends it with ``stop()``. The threads poll a duplicate of the descriptor, so the owner may close
/// the original at any moment.
package final class SocketPoller: EventSource {
    /// The events of `poll(2)`.
    package struct Events: OptionSet, Sendable {
        package let rawValue: CShort

        package init(rawValue: CShort) { self.rawValue = rawValue }

        package static let readable = Events(rawValue: CShort(POLLIN))
        package static let writable = Events(rawValue: CShort(POLLOUT))
        package static let error = Events(rawValue: CShort(POLLERR))
        package static let hangup = Events(rawValue: CShort(POLLHUP))
    }

    /// Handles the requested events, and errors and hangups, on the queue.
    ///
    /// The handler may return inline work only if `allowsInline` is true; the work runs off the queue.
    package typealias Handler = @Sendable (Events, _ allowsInline: Bool) -> InlineWork?

    private struct State {
        var wanted: Events = []
        /// Whether the polling thread is in `poll(2)`.
        var isWaiting = false
    }

    private let state = Lock(State())
    private let socket: DBusFileDescriptor
    /// Wakes the polling thread, which then reads the state again.
    private let wakeupFD: DBusFileDescriptor
    private let threads: EventThreads
    private let queue: DispatchQueue
    private let handler: Handler

    /// Starts the threads, which wait for no event yet.
    ///
    /// - Parameters:
    ///   - socket: A descriptor that the caller owns and closes.
    ///   - queue: A serial queue; the polling thread waits until the handler has run there, before it polls again.
    ///   - handler: Runs on the queue.
    /// - Throws: `LimitsExceeded` if the process has no descriptor or thread left.
    package init(socket: CInt, queue: DispatchQueue, handler: @escaping Handler) throws(DBusError) {
        self.socket = try DBusFileDescriptor(created: fcntl(socket, F_DUPFD_CLOEXEC, 0))
        wakeupFD = try DBusFileDescriptor.event()
        guard let threads = EventThreads() else { throw .exhausted("descriptors") }
        self.threads = threads
        self.queue = queue
        self.handler = handler
        guard threads.start(self) else { throw .exhausted("threads") }
    }

    /// Sets the events to wait for.
    ///
    /// Takes only a leaf lock, so callers may hold a lock of their own.
    package func wait(for events: Events) {
        let mustWake = state.withLock { state in
            defer { state.wanted = events }
            return state.isWaiting && state.wanted != events
        }
        if mustWake { wake() }
    }

    /// Ends the threads soon, which closes the duplicate of the descriptor; later calls do nothing.
    package func stop() { threads.stop(self) }

    private func drainWakeups() {
        var count: UInt64 = 0
        // Fails only if there was no signal.
        _ = withUnsafeMutableBytes(of: &count) { read(wakeupFD.rawValue, $0.baseAddress, $0.count) }
    }

    // MARK: The source of the threads' events

    package func wait() -> CInt {
        let wanted = state.withLock { state in
            state.isWaiting = true
            return state.wanted
        }
        defer { state.withLock { $0.isWaiting = false } }
        // poll(2) reports a hangup even if it is not requested, and would report it forever.
        var both = (
            pollfd(fd: wanted.isEmpty ? -1 : socket.rawValue, events: wanted.rawValue, revents: 0),
            pollfd(fd: wakeupFD.rawValue, events: CShort(POLLIN), revents: 0)
        )
        let count = withUnsafeMutableBytes(of: &both) { bytes in
            poll(bytes.assumingMemoryBound(to: pollfd.self).baseAddress, 2, -1)
        }
        // Interrupted by a signal: the caller waits again.
        guard count > 0 else { return 0 }
        if both.1.revents != 0 { drainWakeups() }
        return CInt(both.0.revents)
    }

    package func wake() {
        // Fails only after 2^64 - 2 signals that were not drained.
        _ = withUnsafeBytes(of: UInt64(1)) { write(wakeupFD.rawValue, $0.baseAddress, $0.count) }
    }

    package func handle(_ events: CInt, allowsInline: Bool) -> InlineWork? {
        let events = Events(rawValue: CShort(truncatingIfNeeded: events))
        return queue.sync { handler(events, allowsInline) }
    }

    /// Closes the duplicate now instead of with this object, so that the other side detects the end of the connection.
    package func end() {
        if let copy = socket.release() { close(copy) }
    }
}
#endif
