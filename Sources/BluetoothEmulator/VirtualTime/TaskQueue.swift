import BluetoothSupport
import DequeModule

/// The jobs of a world's tasks that are ready: they run one at a time, in the order in which they became ready.
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
        /// The number of entries that are ready or run, without those whose thread waits for time.
        var unfinished = 0
        var turn: Turn?
        var lastTurn: Turn = 0
        /// The thread of the turns: another one as soon as a job blocks it.
        var thread = TaskQueue.makeThread()
        var isPaused = false
        /// Goes on when the queue is quiet, and finds it paused.
        var waiter: (@Sendable () -> Void)?
        var count: UInt64 = 0
        /// The turns whose job time does not wait for, as it waits for time on its thread.
        var suspended: Set<Turn> = []

        var isQuiet: Bool { unfinished == 0 }
        /// The turn whose job runs.
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

        /// Begins a turn, if there is work for one.
        mutating func begin() -> (Turn, SerialThread)? {
            let isUseful = !isPaused && !ready.isEmpty || isQuiet && waiter != nil
            guard turn == nil, isUseful else { return nil }
            lastTurn += 1
            turn = lastTurn
            return (lastTurn, thread)
        }

        /// Takes the turn from a job that blocks its thread.
        mutating func endTurn() {
            turn = nil
            thread = TaskQueue.makeThread()
        }
    }

    private let state = Lock(State())

    deinit { JobHooks.forget(self) }

    // MARK: Entries

    /// Enqueues a job of a task that prefers this executor.
    func enqueue(_ job: consuming ExecutorJob) { enqueue(.job(UnownedJob(job), prefersQueue: true)) }

    /// Enqueues a job of any other task.
    func enqueue(_ job: UnownedJob) { enqueue(.job(job, prefersQueue: false)) }

    /// Enqueues work that runs elsewhere in its turn.
    func enqueue(_ work: @escaping Work) { enqueue(.work(work)) }

    private func enqueue(_ entry: Entry) {
        change { state in
            state.ready.append(entry)
            state.unfinished += 1
            state.count += 1
        }
    }

    /// The number of entries so far: two equal numbers prove that no task ran in between.
    var count: UInt64 { state.withLock { $0.count } }

    /// Whether nothing is ready and nothing runs.
    var isQuiet: Bool { state.withLock { $0.isQuiet } }

    // MARK: Turns

    private func change(_ body: (inout State) -> Void) {
        let begun = state.withLock { state -> (Turn, SerialThread)? in
            body(&state)
            return state.begin()
        }
        if let (turn, thread) = begun { thread.async { self.run(turn) } }
    }

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
            case .waiter(let body): body()
            }
        }
    }

    /// An entry is done; where its turn was passed on, another thread takes it from here.
    private func finish(_ turn: Turn) {
        change { state in
            if state.suspended.remove(turn) == nil { state.unfinished -= 1 }
        }
    }

    /// The context of work that runs elsewhere in the present turn, and of callbacks.
    func makeContext() -> TaskContext {
        TaskContext(.world(self), turn: state.withLock { $0.isPaused ? nil : $0.turn })
    }

    /// The job of a turn waits for time on its thread: time does not wait for the job until it resumes or ends, and
    /// another thread runs what is ready.
    ///
    /// - Parameter turn: Whose job it is; nil for the job that runs, if there is one.
    func suspend(_ turn: Turn? = nil) {
        change { state in
            guard let turn = turn ?? state.running, state.suspended.insert(turn).inserted else { return }
            state.unfinished -= 1
            if state.turn == turn { state.endTurn() }
        }
    }

    /// The job of a suspended turn continues, and time waits for it again.
    func resume(_ turn: Turn) {
        change { state in
            guard state.suspended.remove(turn) != nil else { return }
            state.unfinished += 1
            if state.turn == nil { state.turn = turn }
        }
    }

    /// Another thread runs the ready jobs, as the present job may wait for one; time still waits for the present job.
    func passTurn() {
        change { state in
            if !state.ready.isEmpty, !state.isPaused { state.endTurn() }
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

    /// Resumes the jobs, and removes the waiter.
    func unpause() {
        change { state in
            state.isPaused = false
            state.waiter = nil
        }
    }
}
