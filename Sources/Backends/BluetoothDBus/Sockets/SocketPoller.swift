#if os(Linux)
import BluetoothSupport
package import Dispatch
import Glibc

/// A thread that polls a socket and handles its events on a queue without a thread switch.
///
/// A Dispatch source wakes two threads for each event, one that waits and one for the queue, and makes four more system
/// calls than `poll(2)`. `DispatchQueue.sync` from the polling thread runs on that same thread while the queue is idle.
///
/// The polling thread can also run work that must happen off the queue; see ``InlineDeliveryPolicy``. Such inline work
/// may block, even on data that the socket is yet to deliver. A backup thread therefore waits for a countdown, which runs
/// while inline work does, and takes over the polling when the work does not return in time. As long as work returns in
/// time, the backup thread sleeps.
///
/// The owner of a poller ends both threads with ``stop()``. The threads poll a duplicate of the descriptor, so the
/// owner may close the original at any moment.
package final class SocketPoller: Sendable {
    /// The events of `poll(2)`.
    package struct Events: OptionSet, Sendable {
        package let rawValue: CShort

        package init(rawValue: CShort) { self.rawValue = rawValue }

        package static let readable = Events(rawValue: CShort(POLLIN))
        package static let writable = Events(rawValue: CShort(POLLOUT))
        package static let error = Events(rawValue: CShort(POLLERR))
        package static let hangup = Events(rawValue: CShort(POLLHUP))
    }

    /// Work that must run off the queue.
    package typealias InlineWork = @Sendable () -> Void

    /// Handles the requested events, and errors and hangups, on the queue.
    ///
    /// The handler may return inline work only if `allowsInline` is true.
    package typealias Handler = @Sendable (Events, _ allowsInline: Bool) -> InlineWork?

    /// The time for which the socket waits for inline work that does not return, in nanoseconds.
    static let longestWait = 10_000_000

    private struct State {
        var wanted: Events = []
        var isStopped = false
        /// Whether the polling thread is in `poll(2)`.
        var isWaiting = false
        var policy = InlineDeliveryPolicy()
        /// Whether the polling thread runs inline work, and the backup thread has not taken over.
        var isRunningWork = false
        /// Whether the backup thread is ready to take over.
        var hasBackupThread = false
    }

    private let state = Lock(State())
    private let socket: DBusFileDescriptor
    /// Wakes the polling thread, which then reads the state again.
    private let wakeupFD: DBusFileDescriptor
    /// Wakes the backup thread: when inline work does not return, or the poller is stopped.
    // Invariant: started and read under the lock only, so that an end belongs to the present work.
    private let countdown: Countdown
    private let queue: DispatchQueue
    private let handler: Handler

    /// Starts both threads, which wait for no event yet.
    ///
    /// - Parameters:
    ///   - socket: A descriptor that the caller owns and closes.
    ///   - queue: A serial queue; the polling thread waits until the handler has run there, before it polls again.
    ///   - handler: Runs on the queue.
    /// - Throws: `LimitsExceeded` if the process has no descriptor or thread left.
    package init(socket: CInt, queue: DispatchQueue, handler: @escaping Handler) throws(DBusError) {
        self.socket = try DBusFileDescriptor(created: fcntl(socket, F_DUPFD_CLOEXEC, 0))
        wakeupFD = try DBusFileDescriptor.event()
        countdown = try Countdown()
        self.queue = queue
        self.handler = handler
        guard startThread(Self.pollingThread), startThread(Self.backupThread) else {
            stop()
            throw .exhausted("threads")
        }
    }

    /// Sets the events to wait for.
    ///
    /// Takes only a leaf lock, so callers may hold a lock of their own.
    package func wait(for events: Events) {
        let mustWake = state.withLock { state in
            defer { state.wanted = events }
            return state.isWaiting && state.wanted != events
        }
        if mustWake { wakePoller() }
    }

    /// Ends both threads soon, which closes the duplicate of the descriptor; later calls do nothing.
    package func stop() {
        state.withLock { state in
            state.isStopped = true
            countdown.start(nanoseconds: 1)
        }
        wakePoller()
    }

    private func wakePoller() {
        // Fails only after 2^64 - 2 signals that were not drained.
        _ = withUnsafeBytes(of: UInt64(1)) { write(wakeupFD.rawValue, $0.baseAddress, $0.count) }
    }

    private func drainWakeups() {
        var count: UInt64 = 0
        // Fails only if there was no signal.
        _ = withUnsafeMutableBytes(of: &count) { read(wakeupFD.rawValue, $0.baseAddress, $0.count) }
    }

    // MARK: The threads

    private typealias Main = @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?

    private func startThread(_ main: Main) -> Bool {
        var thread = pthread_t()
        let this = Unmanaged.passRetained(self)
        // The program's threads handle its signals, except those that report a fault in the code that this thread runs.
        var blocked = sigset_t()
        var old = sigset_t()
        sigfillset(&blocked)
        for signal in [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS] { sigdelset(&blocked, signal) }
        pthread_sigmask(SIG_SETMASK, &blocked, &old)
        let code = pthread_create(&thread, nil, main, this.toOpaque())
        pthread_sigmask(SIG_SETMASK, &old, nil)
        guard code == 0 else {
            this.release()
            return false
        }
        pthread_detach(thread)
        return true
    }

    private static let pollingThread: Main = { argument in
        if let argument { Unmanaged<SocketPoller>.fromOpaque(argument).takeRetainedValue().run(isPolling: true) }
        return nil
    }

    private static let backupThread: Main = { argument in
        if let argument { Unmanaged<SocketPoller>.fromOpaque(argument).takeRetainedValue().run(isPolling: false) }
        return nil
    }

    /// Alternates between polling and the watchdog, until the poller is stopped.
    private func run(isPolling: Bool) {
        var isPolling = isPolling
        while isPolling ? pollUntilRelieved() : runWatchdog() { isPolling.toggle() }
    }

    // MARK: Polling

    /// - Returns: Whether the other thread polls now; false once the poller is stopped.
    private func pollUntilRelieved() -> Bool {
        while let wanted = beginWaiting() {
            let events = poll(for: wanted)
            let allowsInline = endWaiting(hasEvents: !events.isEmpty)
            guard !events.isEmpty else { continue }
            if let work = queue.sync(execute: { handler(events, allowsInline) }), !run(work) { return true }
        }
        closeSocket()
        return false
    }

    /// - Returns: The events to wait for; nil once the poller is stopped.
    private func beginWaiting() -> Events? {
        state.withLock { state in
            guard !state.isStopped else { return nil }
            state.isWaiting = true
            return state.wanted
        }
    }

    /// - Returns: Whether the handler may return inline work.
    private func endWaiting(hasEvents: Bool) -> Bool {
        let now = ContinuousClock.now
        return state.withLock { state in
            state.isWaiting = false
            return hasEvents && state.policy.allowsInlineWork(at: now) && state.hasBackupThread
        }
    }

    /// Waits for the socket or for a wakeup.
    private func poll(for wanted: Events) -> Events {
        // poll(2) reports a hangup even if it is not requested, and would report it forever.
        var both = (
            pollfd(fd: wanted.isEmpty ? -1 : socket.rawValue, events: wanted.rawValue, revents: 0),
            pollfd(fd: wakeupFD.rawValue, events: CShort(POLLIN), revents: 0)
        )
        let count = withUnsafeMutableBytes(of: &both) { bytes in
            Glibc.poll(bytes.assumingMemoryBound(to: pollfd.self).baseAddress, 2, -1)
        }
        // Interrupted by a signal: the caller polls again.
        guard count > 0 else { return [] }
        if both.1.revents != 0 { drainWakeups() }
        return Events(rawValue: both.0.revents)
    }

    /// Closes the duplicate now instead of with this object, so that the other side detects the end of the connection.
    private func closeSocket() {
        if let copy = socket.release() { close(copy) }
    }

    // MARK: Inline work

    /// - Returns: Whether this thread still is the polling thread.
    private func run(_ work: InlineWork) -> Bool {
        let start = ContinuousClock.now
        state.withLock { state in
            state.isRunningWork = true
            if !state.isStopped { countdown.start(nanoseconds: Self.longestWait) }
        }
        work()
        let end = ContinuousClock.now
        return state.withLock { state in
            state.policy.workTook(end - start, until: end)
            guard state.isRunningWork else { return false }
            state.isRunningWork = false
            if !state.isStopped { countdown.start(nanoseconds: 0) }
            return true
        }
    }

    // MARK: Watchdog

    /// The outcome of a wakeup of the backup thread.
    private enum WatchdogDecision {
        case sleep
        case takeOver
        /// The poller is stopped; without a polling thread, this thread closes the socket.
        case end(mustCloseSocket: Bool)
    }

    /// - Returns: Whether this thread takes over the polling; false once the poller is stopped.
    private func runWatchdog() -> Bool {
        let isOver = state.withLock { state in
            state.hasBackupThread = !state.isStopped
            return state.isStopped
        }
        guard !isOver else { return false }
        while true {
            var waiting = pollfd(fd: countdown.descriptor.rawValue, events: CShort(POLLIN), revents: 0)
            // Interrupted by a signal: the watchdog makes an additional check.
            _ = Glibc.poll(&waiting, 1, -1)
            switch check() {
            case .sleep: continue
            case .takeOver: return true
            case .end(let mustCloseSocket):
                if mustCloseSocket { closeSocket() }
                return false
            }
        }
    }

    private func check() -> WatchdogDecision {
        state.withLock { state in
            guard state.isStopped || countdown.takeEnd() else { return .sleep }
            defer {
                state.isRunningWork = false
                state.hasBackupThread = false
            }
            return state.isStopped ? .end(mustCloseSocket: state.isRunningWork) : .takeOver
        }
    }
}
#endif
