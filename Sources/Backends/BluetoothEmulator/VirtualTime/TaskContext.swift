import BluetoothSupport
import Dispatch
import Synchronization

/// The world that the code on a thread belongs to; tasks that become ready there belong to it, too.
final class TaskContext: Sendable {
    /// The owner that waits for the code.
    enum Owner: Sendable {
        case world(TaskQueue)
        /// The process, without a particular world.
        case process(UnattributedJobs.Number)
    }

    let owner: Owner
    /// The turn of the world's queue in which the code runs; nil for callbacks of managers and bodies of XCTest.
    let turn: TaskQueue.Turn?
    private let suspensions = Atomic(0)

    init(_ owner: Owner, turn: TaskQueue.Turn? = nil) {
        self.owner = owner
        self.turn = turn
    }

    /// The world that waits for the code.
    var queue: TaskQueue? {
        if case .world(let queue) = owner { queue } else { nil }
    }

    /// Runs code in this context on the calling thread.
    func perform<Result>(_ body: () throws -> Result) rethrows -> Result {
        try Self.pointer.withValue(Unmanaged.passUnretained(self).toOpaque()) { try withExtendedLifetime(self, body) }
    }

    /// Runs `body`, which waits for time on the calling thread; nothing waits for the calling code during that time.
    static func whileWaiting<Result>(_ body: () throws -> Result) rethrows -> Result {
        guard let context = current else { return try body() }
        context.suspend()
        defer { context.resume() }
        return try body()
    }

    private func suspend() {
        guard suspensions.add(1, ordering: .relaxed).newValue == 1 else { return }
        switch owner {
        case .world(let queue): if let turn { queue.suspend(turn) }
        case .process(let number): UnattributedJobs.shared.end(number)
        }
    }

    private func resume() {
        guard suspensions.subtract(1, ordering: .relaxed).newValue == 0 else { return }
        // Nothing waits again for a job of the process: it has shown that it blocks.
        if case .world(let queue) = owner, let turn { queue.resume(turn) }
    }

    static var current: TaskContext? {
        pointer.value.map { Unmanaged<TaskContext>.fromOpaque($0).takeUnretainedValue() }
    }

    private static let pointer = ThreadLocalPointer()
}

/// The main actor's executor while emulators with virtual time exist: the main queue, as part of the world's queue.
final class MainActorExecutor: SerialExecutor {
    static let shared = MainActorExecutor()

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        switch JobHooks.owner(of: job) {
        case .world(let queue):
            queue.enqueue { finish in
                let context = queue.makeContext()
                self.run(job, context, finish)
            }
        case .process(let kind):
            let number = UnattributedJobs.shared.begin(kind)
            run(job, TaskContext(.process(number))) { UnattributedJobs.shared.end(number) }
        }
    }

    private func run(_ job: UnownedJob, _ context: TaskContext, _ finish: @escaping @Sendable () -> Void) {
        DispatchQueue.main.async {
            context.perform { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
            finish()
        }
    }

    func checkIsolated() { dispatchPrecondition(condition: .onQueue(.main)) }
}
