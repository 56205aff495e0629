#if os(Linux)
import BluetoothLocking
import Dispatch
import Glibc
import Synchronization

/// A thread that waits until a socket is ready, and has that handled on a queue without changing threads.
///
/// A Dispatch source wakes two threads for each event, the one that waits and one for the queue, and makes four system
/// calls more than `poll(2)`. `DispatchQueue.sync` from here runs on this very thread where the queue is idle.
///
/// What is to be done off the queue can be an errand of the same thread, too; see ``ErrandPace``. An errand may take its
/// time, or wait for something that the socket brings: a second thread stands by, and polls instead when an errand does
/// not end. A timer for each errand would cost as much as waking a thread, and so that thread looks from time to time.
///
/// The threads end with ``stop()``; whoever makes a poller calls that. They wait on a duplicate of the descriptor, whose
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

    /// What is to be done off the queue.
    typealias Errand = @Sendable () -> Void

    /// Hears on the queue of what is ready, and of what was not asked for: an error or a hangup.
    ///
    /// The second parameter says whether it may give back an errand.
    typealias Handler = @Sendable (Events, _ mayGiveErrand: Bool) -> Errand?

    /// The time between two looks at errands, in milliseconds: the socket waits once or twice as long for one that does
    /// not end.
    static let lookInterval: CInt = 10

    private struct State {
        var wanted: Events = []
        var isStopped = false
        /// The thread that polls does so now.
        var isWaiting = false
        var pace = ErrandPace()
        /// The thread that polls is on an errand, and the other has not taken over.
        var isOnErrand = false
        /// Counts errands.
        var errand: UInt64 = 0
        /// The other thread stands by.
        var hasStandIn = false
        /// And looks at errands.
        var isLooking = false
    }

    private let state = Lock(State())
    private let socket: DBusFileDescriptor
    /// Readable when the thread that polls is to look at the state anew.
    private let alarm: DBusFileDescriptor
    /// Readable when the thread that stands by is to.
    private let standInAlarm: DBusFileDescriptor
    private let queue: DispatchQueue
    private let handler: Handler

    /// Starts the threads, which wait for nothing yet.
    ///
    /// - Parameters:
    ///   - socket: Stays the caller's.
    ///   - queue: A serial queue; the thread waits for its turn there, before it looks at the socket again.
    ///   - handler: Runs on the queue.
    /// - Throws: `LimitsExceeded` where the process has no descriptor or thread left.
    init(socket: CInt, queue: DispatchQueue, handler: @escaping Handler) throws(DBusError) {
        self.socket = try Self.adopt(fcntl(socket, F_DUPFD_CLOEXEC, 0))
        alarm = try Self.adopt(eventfd(0, eventfdFlags))
        standInAlarm = try Self.adopt(eventfd(0, eventfdFlags))
        self.queue = queue
        self.handler = handler
        guard startThread(Self.pollingThread), startThread(Self.standInThread) else {
            stop()
            throw .exhausted("threads")
        }
    }

    private static func adopt(_ descriptor: CInt) throws(DBusError) -> DBusFileDescriptor {
        guard descriptor >= 0 else { throw .exhausted("descriptors") }
        return DBusFileDescriptor(adopting: descriptor)
    }

    /// Says what to wait for from now on.
    ///
    /// A leaf lock: callable under another one.
    func wait(for events: Events) {
        let mustWake = state.withLock { state in
            defer { state.wanted = events }
            return state.isWaiting && state.wanted != events
        }
        if mustWake { ring(alarm) }
    }

    /// Ends the threads soon, and so gives the descriptor back; more than once without harm.
    func stop() {
        state.withLock { $0.isStopped = true }
        ring(alarm)
        ring(standInAlarm)
    }

    private func ring(_ alarm: DBusFileDescriptor) {
        // Fails only where it has been rung 2^64 - 2 times already.
        _ = addToEventfd(alarm.rawValue, 1)
    }

    private func silence(_ alarm: DBusFileDescriptor) {
        // Nil only where it was not rung.
        resetEventfd(alarm.rawValue)
    }

    // MARK: The threads

    private typealias Main = @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?

    private func startThread(_ main: Main) -> Bool {
        var thread = pthread_t()
        let this = Unmanaged.passRetained(self)
        // The program's signals are for its own threads, but for those that tell of a fault in what this thread runs.
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

    private static let standInThread: Main = { argument in
        if let argument { Unmanaged<SocketPoller>.fromOpaque(argument).takeRetainedValue().run(isPolling: false) }
        return nil
    }

    /// Polls and stands by in turn, until it is over.
    private func run(isPolling: Bool) {
        var isPolling = isPolling
        while isPolling ? pollUntilRelieved() : standBy() { isPolling.toggle() }
    }

    // MARK: Polling

    /// - Returns: Whether the other thread polls now; else it is over.
    private func pollUntilRelieved() -> Bool {
        while let wanted = beginWaiting() {
            let events = poll(for: wanted)
            let mayGiveErrand = endWaiting(isOver: !events.isEmpty)
            guard !events.isEmpty else { continue }
            if let errand = queue.sync(execute: { handler(events, mayGiveErrand) }), !run(errand) { return true }
        }
        letGo()
        return false
    }

    /// - Returns: What to wait for; nil where it is over.
    private func beginWaiting() -> Events? {
        state.withLock { state in
            guard !state.isStopped else { return nil }
            state.isWaiting = true
            return state.wanted
        }
    }

    /// - Returns: Whether what happened may lead to an errand.
    private func endWaiting(isOver: Bool) -> Bool {
        let now = ContinuousClock.now
        return state.withLock { state in
            state.isWaiting = false
            return isOver && state.pace.allowsErrand(at: now) && state.hasStandIn
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
        if both.1.revents != 0 { silence(alarm) }
        return Events(rawValue: both.0.revents)
    }

    /// Not only with this object: the other side is to see the end.
    private func letGo() {
        if let copy = socket.take() { close(copy) }
    }

    // MARK: Errands

    /// - Returns: Whether this thread still is the one that polls.
    private func run(_ errand: Errand) -> Bool {
        let start = ContinuousClock.now
        let isWatched = state.withLock { state in
            state.isOnErrand = true
            state.errand += 1
            defer { state.isLooking = true }
            return state.isLooking
        }
        if !isWatched { ring(standInAlarm) }
        errand()
        let end = ContinuousClock.now
        return state.withLock { state in
            state.pace.errandTook(end - start, until: end)
            defer { state.isOnErrand = false }
            return state.isOnErrand
        }
    }

    // MARK: Standing by

    /// What one look leads to.
    private enum Look {
        case again(after: UInt64)
        case sleep
        case poll
        /// Where nobody polls, nobody else would let go of the socket.
        case end(nobodyPolls: Bool)
    }

    /// - Returns: Whether this thread is to poll; else it is over.
    private func standBy() -> Bool {
        let isOver = state.withLock { state in
            state.hasStandIn = !state.isStopped
            state.isLooking = false
            return state.isStopped
        }
        guard !isOver else { return false }
        var seen: UInt64?
        while true {
            waitForAlarm(milliseconds: seen == nil ? -1 : Self.lookInterval)
            switch look(after: seen) {
            case .again(let errand): seen = errand
            case .sleep: seen = nil
            case .poll: return true
            case .end(let nobodyPolls):
                if nobodyPolls { letGo() }
                return false
            }
        }
    }

    private func waitForAlarm(milliseconds: CInt) {
        var waiting = pollfd(fd: standInAlarm.rawValue, events: CShort(POLLIN), revents: 0)
        // Interrupted: one look too many.
        if Glibc.poll(&waiting, 1, milliseconds) > 0 { silence(standInAlarm) }
    }

    /// - Parameter seen: The number of errands at the last look; nil where it has slept since.
    private func look(after seen: UInt64?) -> Look {
        state.withLock { state in
            guard state.isStopped || state.errand == seen else { return .again(after: state.errand) }
            let nobodyPolls = state.isOnErrand
            state.isLooking = false
            if state.isStopped || nobodyPolls {
                state.isOnErrand = false
                state.hasStandIn = false
            }
            if state.isStopped { return .end(nobodyPolls: nobodyPolls) }
            return nobodyPolls ? .poll : .sleep
        }
    }
}
#endif
