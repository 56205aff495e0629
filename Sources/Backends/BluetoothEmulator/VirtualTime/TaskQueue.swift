import BluetoothSupport
import DequeModule

/// The ready jobs of a world's tasks, which run one at a time, in the order in which they became ready.
///
/// Virtual time advances only while the queue is quiet, which means that no job is ready or running. While the driver
/// delivers an event, the queue is paused: jobs that callbacks make ready start afterwards, in the same order in each
/// run.
final class TaskQueue: TaskExecutor {
    /// Work that runs elsewhere, such as on the main queue, and calls its argument when it is done.
    typealias Work = @Sendable (_ finish: @escaping @Sendable () -> Void) -> Void
    /// The right to run the queue, given to one thread at a time.
    typealias Turn = UInt64

    private enum Entry: Sendable {
        case job(UnownedJob, prefersQueue: Bool)
        case work(Work)
        /// A closure that waits until the queue is quiet; not a job.
        case waiter(@Sendable () -> Void)
    }

    private struct State {
        var ready = Deque<Entry>()
        /// The number of ready or running entries, without those whose thread waits for time.
        var unfinished = 0
        var turn: Turn?
        var lastTurn: Turn = 0
        /// The thread that runs the turns, replaced as soon as a job blocks it.
        var thread = TaskQueue.makeThread()
        var isPaused = false
        /// Continues when the queue is quiet, and finds it paused.
        var waiter: (@Sendable () -> Void)?
        var count: UInt64 = 0
        /// The turns for whose job time does not wait, because the job waits for time on its thread.
        var suspended: Set<Turn> = []

        var isQuiet: Bool { unfinished == 0 }
        /// The turn whose job is running.
        var running: Turn? { unfinished > ready.count ? turn : nil }

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

        /// Begins a turn, if work is ready for it.
        mutating func begin() -> (Turn, SerialThread)? {
            let isUseful = !isPaused && !ready.isEmpty || isQuiet && waiter != nil
            guard turn == nil, isUseful else { return nil }
            lastTurn += 1
            turn = lastTurn
            return (lastTurn, thread)
        }

        /// Takes the turn away from a job that blocks its thread.
        mutating func endTurn() {
            turn = nil
            thread = TaskQueue.makeThread()
        }
    }

    /// The virtual time of the tasks; nil in real time.
    let time: TaskTime?
    /// The task that created the world; it and older tasks do not belong to the world.
    let creator = JobHooks.currentTask
    private let state = Lock(State())

    init(_ time: TaskTime? = nil) { self.time = time }

    deinit { JobHooks.forget(self) }

    // MARK: Entries

    /// Enqueues a job of a task that prefers this executor.
    func enqueue(_ job: consuming ExecutorJob) { enqueue(.job(UnownedJob(job), prefersQueue: true)) }

    /// Enqueues a job of any other task.
    func enqueue(_ job: UnownedJob) { enqueue(.job(job, prefersQueue: false)) }

    /// Enqueues work that runs elsewhere during its turn.
    func enqueue(_ work: @escaping Work) { enqueue(.work(work)) }

    private func enqueue(_ entry: Entry) {
        change { state in
            state.ready.append(entry)
            state.unfinished += 1
            state.count += 1
        }
    }

    /// The number of entries so far; two equal numbers prove that no task ran between their readings.
    var count: UInt64 { state.withLock { $0.count } }

    /// Whether no job is ready or running.
    var isQuiet: Bool { state.withLock { $0.isQuiet } }

    // MARK: Turns

    private func change(_ body: (inout State) -> Void) {
        let begun = state.withLock { state -> (Turn, SerialThread)? in
            body(&state)
            return state.begin()
        }
        if let (turn, thread) = begun { thread.async { self.run(turn) } }
    }

    /// Set on a thread of tasks while all of them wait, so that nothing waits for the thread.
    static let betweenTasks = ThreadMark()

    private static func makeThread() -> SerialThread { SerialThread(name: "CoreBluetooth emulator tasks") }

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
                    state.withLock { $0.thread }.async { self.run(turn) }
                }
            case .waiter(let body): Self.betweenTasks.perform(body)
            }
        }
    }

    /// Finishes an entry; if its turn was passed on, another thread continues the queue.
    private func finish(_ turn: Turn) {
        change { state in
            if state.suspended.remove(turn) == nil { state.unfinished -= 1 }
        }
    }

    /// Creates the context of callbacks, and of work that runs elsewhere in the present turn.
    func makeContext() -> TaskContext {
        TaskContext(.world(self), turn: state.withLock { $0.isPaused ? nil : $0.turn })
    }

    /// Suspends the job of a turn, which waits for time on its thread: time does not wait for the job until it resumes
    /// or ends, and another thread runs the ready jobs.
    ///
    /// - Parameter turn: The job's turn; nil for the running job, if any.
    func suspend(_ turn: Turn? = nil) {
        change { state in
            guard let turn = turn ?? state.running, state.suspended.insert(turn).inserted else { return }
            state.unfinished -= 1
            if state.turn == turn { state.endTurn() }
        }
    }

    /// Resumes the job of a suspended turn, for which time waits again.
    func resume(_ turn: Turn) {
        change { state in
            guard state.suspended.remove(turn) != nil else { return }
            state.unfinished += 1
            if state.turn == nil { state.turn = turn }
        }
    }

    /// Lets another thread run the ready jobs, because the present job may wait for one; time still waits for the
    /// present job.
    func passTurn() {
        change { state in
            if !state.ready.isEmpty, !state.isPaused { state.endTurn() }
        }
    }

    /// Runs what becomes ready on another thread, because a callback of a manager blocks the present one.
    func leaveThread() { change { $0.endTurn() } }

    // MARK: Time

    /// Pauses the queue when it is quiet.
    ///
    /// - Parameter body: Called when the queue is paused, unless it is paused at once; replaces an earlier closure.
    /// - Returns: Whether the queue is paused now.
    func pause(whenQuiet body: @escaping @Sendable () -> Void) -> Bool {
        var isPaused = false
        change { state in
            state.isPaused = state.isQuiet
            isPaused = state.isPaused
            state.waiter = isPaused ? nil : body
        }
        return isPaused
    }

    /// Pauses the queue when it is quiet and no job of the process of these kinds is ready or running.
    ///
    /// - Parameters:
    ///   - kinds: The kinds of jobs that may belong to this world.
    ///   - body: Called when the queue is paused, unless it is paused at once; replaces an earlier closure.
    /// - Returns: Whether the queue is paused now.
    func pause(without kinds: Set<UnattributedJobs.Kind>, whenQuiet body: @escaping @Sendable () -> Void) -> Bool {
        let again: @Sendable () -> Void = { [self] in
            if pause(without: kinds, whenQuiet: body) { body() }
        }
        while pause(whenQuiet: again) {
            if UnattributedJobs.shared.isQuiet(kinds) { return true }
            // This precedes the wait, because the end of the wait may pause the queue at once, on another thread.
            unpause()
            guard UnattributedJobs.shared.whenQuiet(kinds, again) else { return false }
        }
        return false
    }

    /// Resumes the jobs, and removes the waiter.
    func unpause() {
        change { state in
            state.isPaused = false
            state.waiter = nil
        }
    }
}
