import BluetoothSupport
import DequeModule
import Dispatch
import Foundation

/// A thread of its own that performs work one piece at a time, in the order in which it came.
///
/// Work need not wait for a thread: Dispatch serves all concurrent queues of a process with as many threads as there are
/// processors, and where app code blocks those, nothing would run. Nor does work wake one thread of a pool after
/// another, as it does on a serial queue of Dispatch, whose threads number a hundred after some thousand changes of
/// threads.
///
/// The thread starts with the first piece of work. It ends when this object is released and the work is done.
///
/// Thread rule: may be used from any thread.
final class SerialThread: Sendable {
    typealias Work = @Sendable () -> Void

    /// The work that waits: what the thread keeps, which does not keep the object.
    private final class Inbox: Sendable {
        private struct State {
            var work = Deque<Work>()
            var hasThread = false
        }

        private let state = Lock(State())
        /// Counts the pieces of work, and the end.
        private let arrivals = DispatchSemaphore(value: 0)

        /// Adds work.
        ///
        /// - Returns: Whether the thread has to be started.
        func add(_ work: @escaping Work) -> Bool {
            let hadThread = state.withLock { state in
                state.work.append(work)
                defer { state.hasThread = true }
                return state.hasThread
            }
            arrivals.signal()
            return !hadThread
        }

        /// Lets the thread end after the work that was added before.
        func end() { arrivals.signal() }

        /// Performs the work until the end.
        func drain() {
            while true {
                arrivals.wait()
                guard let work = state.withLock({ $0.work.popFirst() }) else { return }
                work()
            }
        }
    }

    private let name: String
    private let inbox = Inbox()

    /// A thread that is not started yet.
    ///
    /// - Parameter name: As debuggers show it.
    init(name: String) { self.name = name }

    deinit { inbox.end() }

    /// Performs work after all that was added before.
    func async(_ work: @escaping Work) {
        guard inbox.add(work) else { return }
        let thread = Thread { [inbox] in inbox.drain() }
        thread.name = name
        thread.start()
    }
}
