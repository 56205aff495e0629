import BluetoothLocking
import DequeModule
import Dispatch
import Synchronization

/// What is ready to run of a world's app code: jobs of tasks, one at a time, in the order in which they became ready.
///
/// Virtual time advances only while the queue is quiet, which means that nothing is ready and nothing runs. While the
/// driver delivers an event the queue is paused, so that the jobs which the callbacks make ready start afterwards, in
/// the same order in each run.
final class TaskQueue: TaskExecutor {
    /// Work that runs elsewhere, such as on the main queue; it calls its argument when it is done.
    typealias Work = @Sendable (_ finish: @escaping @Sendable () -> Void) -> Void
    /// The right to run the queue, given to one thread at a time.
    typealias Turn = UInt64

    private enum Entry: Sendable {
        case job(UnownedJob, prefersQueue: Bool)
        case work(Work)
        /// Not an entry of the queue, but what waits until it is quiet.
        case waiter(@Sendable () -> Void)
    }

    private struct State {
        var ready = Deque<Entry>()
        /// How many entries are ready or run, without those whose thread waits for time.
        var unfinished = 0
        var turn: Turn?
        var lastTurn: Turn = 0
        var isPaused = false
        /// Goes on when the queue is quiet, and finds it paused.
        var waiter: (@Sendable () -> Void)?
        /// How many entries there have been.
        var count: UInt64 = 0
        /// The turns whose job counts no more, as it blocks its thread.
        var abandoned: Set<Turn> = []

        var isQuiet: Bool { unfinished == 0 }

        mutating func next(_ turn: Turn) -> Entry? {
            guard self.turn == turn else { return nil }
            if !isPaused, let entry = ready.popFirst() { return entry }
            if isQuiet, let waiter {
                self.waiter = nil
                isPaused = true
                return .waiter(waiter)
            }
            self.turn = nil
            return nil
        }

        /// Gives a turn where somebody can use it.
        mutating func begin() -> Turn? {
            let isUseful = !isPaused && !ready.isEmpty || isQuiet && waiter != nil
            guard turn == nil, isUseful else { return nil }
            lastTurn += 1
            turn = lastTurn
            return turn
        }
    }

    private let state = Lock(State())

    deinit { JobHooks.forget(self) }

    // MARK: Entries

    /// Takes a job of a task that prefers this executor.
    func enqueue(_ job: consuming ExecutorJob) { enqueue(.job(UnownedJob(job), prefersQueue: true)) }

    /// Takes a job of any other task.
    func enqueue(_ job: UnownedJob) { enqueue(.job(job, prefersQueue: false)) }

    /// Takes work that runs elsewhere when its turn comes.
    func enqueue(_ work: @escaping Work) { enqueue(.work(work)) }

    private func enqueue(_ entry: Entry) {
        change { state in
            state.ready.append(entry)
            state.unfinished += 1
            state.count += 1
        }
    }

    /// How many entries there have been: two equal numbers tell that no task ran in between.
    var count: UInt64 { state.withLock { $0.count } }

    /// Whether nothing is ready and nothing runs.
    var isQuiet: Bool { state.withLock { $0.isQuiet } }

    // MARK: Turns

    private func change(_ body: (inout State) -> Void) {
        let turn = state.withLock { state -> Turn? in
            body(&state)
            return state.begin()
        }
        if let turn { runElsewhere(turn) }
    }

    /// Runs the queue on a thread for which it need not wait.
    ///
    /// Dispatch gives each serial queue a thread, and all concurrent queues of the process as many as there are
    /// processors: where app code blocks those, nothing would run.
    private func runElsewhere(_ turn: Turn) {
        DispatchQueue(label: "CoreBluetooth emulator tasks").async { self.run(turn) }
    }

    private func run(_ turn: Turn) {
        while let entry = state.withLock({ $0.next(turn) }) {
            switch entry {
            case .job(let job, let prefersQueue):
                TaskContext(.world(self), turn: turn).perform {
                    if prefersQueue {
                        job.runSynchronously(on: asUnownedTaskExecutor())
                    } else {
                        job.runSynchronously(on: JobHooks.genericExecutor)
                    }
                }
                finish(turn)
            case .work(let work):
                return work { [self] in
                    finish(turn)
                    runElsewhere(turn)
                }
            case .waiter(let body): body()
            }
        }
    }

    /// An entry is done; where its turn was passed on, another thread takes it from here.
    private func finish(_ turn: Turn) {
        change { state in
            if state.abandoned.remove(turn) == nil { state.unfinished -= 1 }
        }
    }

    /// The present job blocks its thread, and is waited for no longer.
    func abandonTurn() {
        change { state in
            guard let turn = state.turn, state.unfinished > state.ready.count else { return }
            state.abandoned.insert(turn)
            state.unfinished -= 1
            state.turn = nil
        }
    }

    /// The context of work that runs elsewhere in the present turn, and of callbacks.
    func makeContext() -> TaskContext {
        TaskContext(.world(self), turn: state.withLock { $0.isPaused ? nil : $0.turn })
    }

    /// The code of a turn waits for time on its thread: another thread runs what is ready meanwhile.
    func suspend(_ turn: Turn) {
        change { state in
            state.unfinished -= 1
            if state.turn == turn { state.turn = nil }
        }
    }

    /// The code of a turn goes on.
    func resume(_ turn: Turn) {
        change { state in
            state.unfinished += 1
            if state.turn == nil { state.turn = turn }
        }
    }

    /// Lets another thread run what is ready, as the present job blocks its own.
    func passTurn() {
        change { state in
            if !state.ready.isEmpty, !state.isPaused { state.turn = nil }
        }
    }

    // MARK: Time

    /// Pauses the queue when it is quiet.
    ///
    /// - Parameter body: Called when it is paused, if not at once; replaces an earlier one.
    /// - Returns: Whether it is paused now.
    func pause(whenQuiet body: @escaping @Sendable () -> Void) -> Bool {
        var isPaused = false
        change { state in
            state.isPaused = state.isQuiet
            isPaused = state.isPaused
            state.waiter = isPaused ? nil : body
        }
        return isPaused
    }

    /// Pauses the queue when it is quiet, and no job of these kinds of the process is ready or runs.
    ///
    /// - Parameters:
    ///   - kinds: Jobs that may belong to this world.
    ///   - body: Called when it is paused, if not at once; replaces an earlier one.
    /// - Returns: Whether it is paused now.
    func pause(without kinds: Set<UnattributedJobs.Kind>, whenQuiet body: @escaping @Sendable () -> Void) -> Bool {
        let again: @Sendable () -> Void = { [self] in
            if pause(without: kinds, whenQuiet: body) { body() }
        }
        while pause(whenQuiet: again) {
            if UnattributedJobs.shared.isQuiet(kinds) { return true }
            // Before the wait: whoever ends it pauses again, perhaps at once and on another thread.
            unpause()
            guard UnattributedJobs.shared.whenQuiet(kinds, again) else { return false }
        }
        return false
    }

    /// Lets jobs run again, and forgets who waits.
    func unpause() {
        change { state in
            state.isPaused = false
            state.waiter = nil
        }
    }
}
