#if os(Linux)
import BluetoothLocking
import CBluetoothDBus
import Dispatch
import Glibc
import Synchronization

/// A thread that waits until a socket is ready, and has that handled on a queue without changing threads.
///
/// A Dispatch source wakes two threads for each event, the one that waits and one for the queue, and makes four system
/// calls more than `poll(2)`. `DispatchQueue.sync` from here runs on this very thread where the queue is idle.
///
/// The thread ends with ``stop()``; whoever makes a poller calls that. It waits on a duplicate of the descriptor, whose
/// owner may close it at any moment.
final class SocketPoller: Sendable {
    /// What a socket can be ready for, as `poll(2)` has it.
    struct Events: OptionSet, Sendable {
        let rawValue: CShort

        static let readable = Events(rawValue: CShort(POLLIN))
        static let writable = Events(rawValue: CShort(POLLOUT))
        static let error = Events(rawValue: CShort(POLLERR))
        static let hangup = Events(rawValue: CShort(POLLHUP))
    }

    private struct State {
        var wanted: Events = []
        var isWaiting = false
        var isStopped = false
    }

    private let state = Lock(State())
    private let socket: DBusFileDescriptor
    /// Readable when the thread is to look at the state anew.
    private let alarm: DBusFileDescriptor
    private let queue: DispatchQueue
    private let handler: @Sendable (Events) -> Void

    /// Starts the thread, which waits for nothing yet.
    ///
    /// - Parameters:
    ///   - socket: Stays the caller's.
    ///   - queue: A serial queue; the thread waits for its turn there, before it looks at the socket again.
    ///   - handler: Hears on the queue of what is ready, and of what was not asked for: an error or a hangup.
    /// - Throws: `LimitsExceeded` where the process has no descriptor or thread left.
    init(
        socket: CInt, queue: DispatchQueue, handler: @escaping @Sendable (Events) -> Void
    ) throws(DBusError) {
        let copy = fcntl(socket, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw Self.exhausted("descriptors") }
        self.socket = DBusFileDescriptor(adopting: copy)
        let alarm = eventfd(0, CInt(EFD_CLOEXEC | EFD_NONBLOCK))
        guard alarm >= 0 else { throw Self.exhausted("descriptors") }
        self.alarm = DBusFileDescriptor(adopting: alarm)
        self.queue = queue
        self.handler = handler
        guard startThread() else { throw Self.exhausted("threads") }
    }

    private static func exhausted(_ what: String) -> DBusError {
        DBusError(name: DBusError.Name.limitsExceeded, message: "this process has no \(what) left")
    }

    /// Says what to wait for from now on.
    ///
    /// A leaf lock: callable under another one.
    func wait(for events: Events) {
        let mustWake = state.withLock { state in
            defer { state.wanted = events }
            return state.isWaiting && state.wanted != events
        }
        if mustWake { wake() }
    }

    /// Ends the thread soon, and so gives its descriptor back; more than once without harm.
    func stop() {
        let mustWake = state.withLock { state in
            state.isStopped = true
            return state.isWaiting
        }
        if mustWake { wake() }
    }

    private func wake() {
        // Fails only where the thread has been woken 2^64 - 2 times already.
        _ = eventfd_write(alarm.rawValue, 1)
    }

    // MARK: The thread

    private func startThread() -> Bool {
        var thread = pthread_t()
        let this = Unmanaged.passRetained(self)
        // The program's signals are for its own threads.
        var all = sigset_t()
        var old = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &old)
        let code = pthread_create(&thread, nil, SocketPoller.main, this.toOpaque())
        pthread_sigmask(SIG_SETMASK, &old, nil)
        guard code == 0 else {
            this.release()
            return false
        }
        pthread_detach(thread)
        return true
    }

    private static let main: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { argument in
        if let argument { Unmanaged<SocketPoller>.fromOpaque(argument).takeRetainedValue().run() }
        return nil
    }

    private func run() {
        while let wanted = beginWaiting() {
            let events = poll(for: wanted)
            state.withLock { $0.isWaiting = false }
            if !events.isEmpty { queue.sync { handler(events) } }
        }
        // Not only with this object: the other side is to see the end.
        if let copy = socket.take() { close(copy) }
    }

    /// - Returns: What to wait for; nil where the thread is to end.
    private func beginWaiting() -> Events? {
        state.withLock { state in
            guard !state.isStopped else { return nil }
            state.isWaiting = true
            return state.wanted
        }
    }

    /// Waits for the socket or the alarm.
    private func poll(for wanted: Events) -> Events {
        // A hangup is told whether it is asked for or not, and would be told for ever.
        var both = (
            pollfd(fd: wanted.isEmpty ? -1 : socket.rawValue, events: wanted.rawValue, revents: 0),
            pollfd(fd: alarm.rawValue, events: CShort(POLLIN), revents: 0)
        )
        let count = withUnsafeMutableBytes(of: &both) { bytes in
            Glibc.poll(bytes.assumingMemoryBound(to: pollfd.self).baseAddress, 2, -1)
        }
        // Interrupted: the next turn waits again.
        guard count > 0 else { return [] }
        if both.1.revents != 0 {
            var rings: eventfd_t = 0
            _ = eventfd_read(alarm.rawValue, &rings)
        }
        return Events(rawValue: both.0.revents)
    }
}
#endif
