import BluetoothSupport
import DequeModule
import Dispatch
import Foundation

/// A dedicated thread that performs work items one at a time, in the order of their arrival.
///
/// Work never waits for a free thread: Dispatch serves all concurrent queues of a process with as many threads as there
/// are processors, and if app code blocks those, nothing runs. Work also stays on one thread: a serial Dispatch queue
/// moves between pool threads, and after a few thousand moves the pool has about a hundred.
///
/// The thread starts with the first work item. It ends when this object is released and the work is done.
///
/// Thread rule: may be used from any thread.
final class SerialThread: Sendable {
    typealias Work = @Sendable () -> Void

    /// The waiting work, which the thread retains without retaining the object.
    private final class Inbox: Sendable {
        private struct State {
            var work = Deque<Work>()
            var hasThread = false
        }

        private let state = Lock(State())
        /// Counts the work items, and the end.
        private let arrivals = DispatchSemaphore(value: 0)

        /// Adds work.
        ///
        /// - Returns: Whether the caller must start the thread.
        func add(_ work: @escaping Work) -> Bool {
            let hadThread = state.withLock { state in
                state.work.append(work)
                return exchange(&state.hasThread, with: true)
            }
            arrivals.signal()
            return !hadThread
        }

        /// Lets the thread end after the work that was added before this call.
        func end() { arrivals.signal() }

        /// Performs work until the end.
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

    /// Creates a thread that starts later.
    ///
    /// - Parameter name: The name that debuggers show.
    init(name: String) { self.name = name }

    deinit { inbox.end() }

    /// Performs work after all earlier work.
    func async(_ work: @escaping Work) {
        guard inbox.add(work) else { return }
        let thread = Thread { [inbox] in inbox.drain() }
        thread.name = name
        thread.start()
    }
}
