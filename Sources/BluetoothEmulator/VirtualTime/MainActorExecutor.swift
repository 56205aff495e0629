import Dispatch

/// The main actor's executor while there are emulators with virtual time: the main queue, in its turn.
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
