import BluetoothSupport
import DequeModule
import Dispatch
import Logging

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Runs the jobs of tasks where an emulator with virtual time can wait for them.
///
/// The Swift runtime has hooks for the jobs of the global executor and for the main actor's executor; they apply to the
/// process, and stay once installed. A job belongs to the world whose code first made its task ready, unless the task is
/// older than the world: a testing library's tasks outlive the worlds whose events they await.
/// Source: `swift/stdlib/public/Concurrency/GlobalExecutor.cpp` and `include/swift/Runtime/Concurrency.h`.
enum JobHooks {
    private typealias Enqueue = @convention(thin) (UnownedJob) -> Void
    private typealias EnqueueHook = @convention(thin) (UnownedJob, Enqueue) -> Void
    private typealias GetMainExecutor = @convention(thin) () -> UnownedSerialExecutor
    private typealias GetMainExecutorHook = @convention(thin) (GetMainExecutor) -> UnownedSerialExecutor
    private typealias IsMainExecutor = @convention(thin) (UnownedSerialExecutor) -> Bool
    private typealias IsMainExecutorHook = @convention(thin) (UnownedSerialExecutor, IsMainExecutor) -> Bool
    private typealias GetTaskID = @Sendable @convention(thin) (UnownedJob) -> UInt64

    /// The hooks of this process's runtime.
    struct Coverage: Sendable {
        /// Whether tasks without an executor preference, and default actors, are hooked.
        var globalExecutor = false
        var mainActor = false
        /// Whether `Task.sleep` and the clocks of the system are virtual.
        var sleeps = false
        /// Whether `DispatchQueue.asyncAfter` is virtual.
        var delayedBlocks = false
    }

    private struct Owners {
        var queues: [UInt64: WeakQueue] = [:]
        var tasks: [ObjectIdentifier: Deque<UInt64>] = [:]
    }

    private struct WeakQueue {
        weak var queue: TaskQueue?
    }

    /// The number of a world's tasks that are known by their identifiers; the oldest ones beyond that are unattributed.
    private static let tasksPerWorld = 65_536

    private static let owners = Lock(Owners())

    /// The executor of code that is isolated to no actor, which the runtime represents as two zero words.
    static let genericExecutor: UnownedSerialExecutor = {
        precondition(MemoryLayout<UnownedSerialExecutor>.size == 2 * MemoryLayout<UInt>.size)
        return unsafeBitCast((UInt(0), UInt(0)), to: UnownedSerialExecutor.self)
    }()

    /// The runtime's function; a constant, because the hooks are called by threads that have not seen their installation.
    private static let getTaskID: GetTaskID? = dlsym(dlopen(nil, RTLD_LAZY), "swift_task_getJobTaskId").map {
        unsafeBitCast($0, to: GetTaskID.self)
    }

    /// Installs the hooks, once per process.
    ///
    /// If the runtime has no hooks, as in a program with a static standard library, one log line reports it.
    static let coverage: Coverage = {
        let coverage = install()
        if !coverage.globalExecutor || !coverage.mainActor {
            Logger(label: "CoreBluetooth").line(
                .warning,
                """
                This program's Swift runtime does not let virtual time wait for all tasks. Run tasks with \
                Task(executorPreference: emulator.executor), or take emulator.hold() while they work.
                """)
        } else if !coverage.sleeps {
            Logger(label: "CoreBluetooth").line(
                .notice,
                """
                Task.sleep takes real time: this program's Swift runtime lets no task sleep in virtual time. Swift 6.3 \
                does. Sleep on emulator.swiftClock instead.
                """)
        } else if !coverage.delayedBlocks {
            Logger(label: "CoreBluetooth").line(
                .notice,
                """
                DispatchQueue.asyncAfter takes real time: this program's Dispatch lets no block wait in virtual time. Sleep \
                in a task instead.
                """)
        }
        return coverage
    }()

    private static func install() -> Coverage {
        var coverage = Coverage(delayedBlocks: VirtualDispatch.install())
        let program = dlopen(nil, RTLD_LAZY)
        guard getTaskID != nil, let global = dlsym(program, "swift_task_enqueueGlobal_hook") else { return coverage }
        global.assumingMemoryBound(to: EnqueueHook?.self).pointee = { job, _ in JobHooks.enqueueGlobal(job) }
        coverage.globalExecutor = true
        guard let getMain = dlsym(program, "swift_task_getMainExecutor_hook"),
            let isMain = dlsym(program, "swift_task_isMainExecutor_hook")
        else { return coverage }
        isMain.assumingMemoryBound(to: IsMainExecutorHook?.self).pointee = { executor, original in
            JobHooks.isMainActorExecutor(executor) || original(executor)
        }
        getMain.assumingMemoryBound(to: GetMainExecutorHook?.self).pointee = { _ in
            MainActorExecutor.shared.asUnownedSerialExecutor()
        }
        coverage.mainActor = true
        coverage.sleeps = VirtualSleep.install()
        return coverage
    }

    private static func isMainActorExecutor(_ executor: UnownedSerialExecutor) -> Bool {
        unsafeBitCast(executor, to: (UInt, UInt).self).0
            == unsafeBitCast(MainActorExecutor.shared.asUnownedSerialExecutor(), to: (UInt, UInt).self).0
    }

    // MARK: Jobs

    private static func enqueueGlobal(_ job: UnownedJob) {
        switch owner(of: job) {
        case .world(let queue): queue.enqueue(job)
        case .process(let kind): UnattributedJobs.shared.run(job, kind)
        }
    }

    /// The owner that waits for a job.
    enum Owner {
        case world(TaskQueue)
        case process(UnattributedJobs.Kind)
    }

    /// The owner of a job that becomes ready on this thread.
    static func owner(of job: UnownedJob) -> Owner {
        let task = getTaskID?(job) ?? 0
        let context = TaskContext.current
        // A job without a task has no owner to be found.
        if task != 0, let known = owners.withLock({ $0.queues[task]?.queue }) { return .world(known) }
        guard let queue = context?.queue, task == 0 || task > queue.creator else {
            let isInTask = withUnsafeCurrentTask { $0 != nil }
            return .process(context != nil || isInTask ? .ofOtherTask : .ofUnknownOrigin)
        }
        if task != 0 { remember(task, of: queue) }
        return .world(queue)
    }

    private static func remember(_ task: UInt64, of queue: TaskQueue) {
        owners.withLock { owners in
            owners.queues[task] = WeakQueue(queue: queue)
            var tasks = owners.tasks.removeValue(forKey: ObjectIdentifier(queue)) ?? []
            tasks.append(task)
            if tasks.count > tasksPerWorld, let oldest = tasks.popFirst() { owners.queues[oldest] = nil }
            owners.tasks[ObjectIdentifier(queue)] = tasks
        }
    }

    /// The identifier of the calling task, which is greater than those of older tasks; zero outside of every task.
    static var currentTask: UInt64 {
        withUnsafeCurrentTask { task in
            // Both are one word, the task's address, as a job is the beginning of its task.
            task.flatMap { getTaskID?(unsafeBitCast($0, to: UnownedJob.self)) } ?? 0
        }
    }

    /// Forgets a deallocated world.
    static func forget(_ queue: TaskQueue) {
        let identifier = ObjectIdentifier(queue)
        owners.withLock { owners in
            for task in owners.tasks.removeValue(forKey: identifier) ?? [] { owners.queues[task] = nil }
        }
    }
}
