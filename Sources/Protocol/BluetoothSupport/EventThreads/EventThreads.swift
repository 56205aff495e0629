#if os(Linux)
import Glibc

/// Work that an event causes, such as callbacks of an app.
package typealias InlineWork = @Sendable () -> Void

/// A source of events that ``EventThreads`` waits for.
package protocol EventSource: AnyObject, Sendable {
    /// Waits for events.
    ///
    /// - Returns: The events, as bits; zero after a wakeup without events.
    func wait() -> CInt

    /// Wakes the thread that waits; called at the end, on any thread.
    func wake()

    /// Handles events.
    ///
    /// - Returns: Work that the thread runs before it waits again; always nil unless `allowsInline` is true.
    func handle(_ events: CInt, allowsInline: Bool) -> InlineWork?

    /// Releases what belongs to the waiting thread; called once, when no thread will wait again.
    func end()
}

/// A pair of threads, one of which waits for events and handles them, work of apps included.
///
/// Waking another thread for each event costs more than most work takes. But work may block, even on a later event. A
/// backup thread therefore waits for a countdown, which runs while inline work does, and takes over the waiting when
/// the work does not return in time. As long as work returns in time, the backup thread sleeps. See
/// ``InlineDeliveryPolicy`` for work that takes long.
///
/// The threads retain this object and the source until ``stop(_:)``.
package final class EventThreads: Sendable {
    /// The time for which events wait for inline work that does not return, in nanoseconds.
    package static let longestWait = 10_000_000

    private struct State {
        var isStopped = false
        var policy = InlineDeliveryPolicy()
        /// Whether the waiting thread runs inline work, and the backup thread has not taken over.
        var isRunningWork = false
        /// Whether the backup thread is ready to take over.
        var hasBackupThread = false
    }

    private let state = Lock(State())
    /// Wakes the backup thread: when inline work does not return, or the threads are stopped.
    // Invariant: started and read under the lock only, so that an end belongs to the present work.
    private let countdown: Countdown

    /// - Returns: nil if the process has no descriptor left.
    package init?() {
        guard let countdown = Countdown() else { return nil }
        self.countdown = countdown
    }

    /// Starts both threads; called once.
    ///
    /// - Returns: False if the process has no thread left; nothing runs then.
    package func start(_ source: any EventSource) -> Bool {
        let isStarted =
            Self.startThread { [self] in run(source, isWaiting: true) }
            && Self.startThread { [self] in run(source, isWaiting: false) }
        if !isStarted { stop(source) }
        return isStarted
    }

    /// Ends both threads soon; later calls do nothing.
    package func stop(_ source: any EventSource) {
        state.withLock { state in
            state.isStopped = true
            countdown.start(nanoseconds: 1)
        }
        source.wake()
    }

    // MARK: The threads

    private final class Main: Sendable {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    private static func startThread(_ body: @escaping @Sendable () -> Void) -> Bool {
        var thread = pthread_t()
        let main = Unmanaged.passRetained(Main(body))
        // The program's threads handle its signals, except those that report a fault in the code that this thread runs.
        var blocked = sigset_t()
        var old = sigset_t()
        sigfillset(&blocked)
        for signal in [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS] { sigdelset(&blocked, signal) }
        pthread_sigmask(SIG_SETMASK, &blocked, &old)
        let code = pthread_create(
            &thread, nil,
            { argument in
                if let argument { Unmanaged<Main>.fromOpaque(argument).takeRetainedValue().body() }
                return nil
            }, main.toOpaque())
        pthread_sigmask(SIG_SETMASK, &old, nil)
        guard code == 0 else {
            main.release()
            return false
        }
        pthread_detach(thread)
        return true
    }

    /// Alternates between waiting for events and the watchdog, until the threads are stopped.
    private func run(_ source: any EventSource, isWaiting: Bool) {
        var isWaiting = isWaiting
        while isWaiting ? waitUntilRelieved(source) : runWatchdog(source) { isWaiting.toggle() }
    }

    // MARK: Events

    /// - Returns: Whether the other thread waits now; false once the threads are stopped.
    private func waitUntilRelieved(_ source: any EventSource) -> Bool {
        while !state.withLock({ $0.isStopped }) {
            let events = source.wait()
            guard events != 0 else { continue }
            if let work = source.handle(events, allowsInline: allowsInline), !run(work) { return true }
        }
        source.end()
        return false
    }

    private var allowsInline: Bool {
        let now = ContinuousClock.now
        return state.withLock { $0.policy.allowsInlineWork(at: now) && $0.hasBackupThread }
    }

    /// - Returns: Whether this thread still is the one that waits for events.
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
        /// The threads are stopped; without a thread that waits, this one ends the source.
        case end(mustEndSource: Bool)
    }

    /// - Returns: Whether this thread takes over the waiting; false once the threads are stopped.
    private func runWatchdog(_ source: any EventSource) -> Bool {
        let isOver = state.withLock { state in
            state.hasBackupThread = !state.isStopped
            return state.isStopped
        }
        guard !isOver else { return false }
        while true {
            // Interrupted by a signal: the watchdog makes an additional check.
            _ = countdown.wait()
            switch check() {
            case .sleep: continue
            case .takeOver: return true
            case .end(let mustEndSource):
                if mustEndSource { source.end() }
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
            return state.isStopped ? .end(mustEndSource: state.isRunningWork) : .takeOver
        }
    }
}
#endif
