import BluetoothBackend
import BluetoothSupport
import Dispatch

/// Tasks in virtual time.
extension Emulator {
    /// Runs tasks one at a time, in the order in which they become ready; virtual time waits for them.
    ///
    /// For tasks of which the emulator could not know otherwise: `Task(executorPreference: emulator.executor) { … }`.
    /// Tasks that app code starts within ``run(within:_:)``, within a test that has an emulator, or within a callback
    /// of a manager are waited for without it. In real time it is an ordinary serial executor.
    public var executor: any TaskExecutor { tasks }

    /// Runs `body` while virtual time advances, as far as it must for `body` to end.
    ///
    /// Time advances only when no task has anything to do: neither `body`, nor its child tasks, nor tasks that they or
    /// the callbacks of managers start. Managers that `body` makes without naming a backend are in this world, and
    /// `withTimeout` of AsyncBluetooth takes its limits in this world's time. Where the caller is cancelled, `body` is.
    ///
    /// - Parameters:
    ///   - limit: The most virtual time that it may take. Then `body` is cancelled.
    ///   - body: Runs on the actor of the caller, or on ``executor`` where there is none.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws; ``EmulatorError`` as ``advance(by:)`` does, and
    ///   ``EmulatorError/notFinished(within:)`` at the limit.
    public func run<Result: Sendable>(
        within limit: Duration = .seconds(3600),
        @_inheritActorContext _ body: @escaping @Sendable @isolated(any) () async throws -> Result
    ) async throws -> Result {
        guard time == .virtual else { throw EmulatorError.notVirtual }
        let end = Completion()
        enterScope()
        defer { leaveScope() }
        let task = Task(executorPreference: tasks) {
            defer { end.isReached.withLock { $0 = true } }
            return try await SelectedBackend.$current.withValue(self) { try await body() }
        }
        do {
            try await withTaskCancellationHandler {
                try await advance(until: { end.isReached.withLock { $0 } }, within: limit)
            } onCancel: {
                task.cancel()
            }
        } catch EmulatorError.conditionNotMet {
            task.cancel()
            try await endCancelled(within: .seconds(60)) { end.isReached.withLock { $0 } }
            throw EmulatorError.notFinished(within: limit)
        } catch {
            task.cancel()
            throw error
        }
        return try await task.value
    }

    /// Lets a cancelled body end what it has begun; one that takes no notice is left behind.
    private func endCancelled(within limit: Duration, _ isDone: @escaping @Sendable () -> Bool) async throws {
        do {
            try await advance(until: isDone, within: limit)
        } catch EmulatorError.conditionNotMet {}
    }

    /// Code begins that belongs to this world, with all tasks that it starts.
    package func enterScope() { core.withLock { $0.virtual.scopes += 1 } }

    /// Such code has ended.
    package func leaveScope() { core.withLock { $0.virtual.scopes -= 1 } }

    /// Runs `body` on this thread; tasks that it starts belong to this world.
    package func withTaskContext<Result>(_ body: () throws -> Result) rethrows -> Result {
        guard time == .virtual else { return try body() }
        return try TaskContext(.world(tasks)).perform(body)
    }

    /// Pauses this world's tasks once none has anything to do, and none of the process that may belong to it.
    ///
    /// - Parameter body: Called when they are paused, if not at once.
    /// - Returns: Whether they are paused now.
    func pauseTasks(whenQuiet body: @escaping @Sendable () -> Void) -> Bool {
        let isScoped = core.withLock { $0.virtual.scopes > 0 }
        let kinds = isScoped ? UnattributedJobs.Kind.unknown : UnattributedJobs.Kind.all
        return tasks.pause(without: kinds, whenQuiet: body)
    }
}

/// Whether a body has ended.
private final class Completion: Sendable {
    let isReached = Lock(false)
}

/// The activity of a world with virtual time: two equal values, some time apart, prove that nothing happened in between.
package struct EmulatorActivity: Equatable, Sendable {
    /// Whether time is being driven.
    package var isDriven: Bool
    /// Whether a ``TimeHold`` keeps time from advancing.
    package var isHeld: Bool
    /// Whether time would bring something about.
    package var hasWork: Bool
    /// Whether no task of this world has anything to do.
    package var areTasksQuiet: Bool
    /// The number of jobs of tasks so far.
    package var taskCount: UInt64
    /// The world's time.
    package var now: Duration
}

extension Emulator {
    /// The activity of the world.
    package var activity: EmulatorActivity {
        let (isQuiet, count) = (tasks.isQuiet, tasks.count)
        return core.withLock { core in
            EmulatorActivity(
                isDriven: core.virtual.isDriven, isHeld: core.virtual.holds > 0,
                hasWork: core.world.queue.nextDue != nil || !core.world.outputs.isEmpty, areTasksQuiet: isQuiet,
                taskCount: count, now: .nanoseconds(core.world.now))
        }
    }

    /// The longest that virtual time waits for app code, in real time: ten seconds.
    package var settleTimeout: Duration {
        get { core.withLock { $0.virtual.settleTimeout } }
        set { core.withLock { $0.virtual.settleTimeout = newValue } }
    }

    /// Drives time without a task, while others wait; a job that blocks its thread is not waited for any more.
    ///
    /// - Parameter finish: Called once, on any thread, with whether the condition came true.
    package func drive(
        until condition: @escaping @Sendable () -> Bool, within limit: Duration,
        _ finish: @escaping @Sendable (Bool) -> Void
    ) {
        tasks.suspend()
        do {
            let end = try beginDrive(for: limit)
            VirtualTimeRun(self, until: end, .instant, condition: condition).start { outcome in
                self.endDrive()
                if case .met = outcome { finish(true) } else { finish(false) }
            }
        } catch {
            finish(false)
        }
    }

    /// Calls `body` on any thread once no task of this world has anything to do, or after the settle timeout.
    package func afterTasks(_ body: @escaping @Sendable (_ areQuiet: Bool) -> Void) {
        let isOver = Lock(false)
        let finish: @Sendable (Bool) -> Void = { areQuiet in
            let isFirst = isOver.withLock { isOver in
                defer { isOver = true }
                return !isOver
            }
            if isFirst { body(areQuiet) }
        }
        VirtualTimeRun.queue.asyncAfter(deadline: .now() + .nanoseconds(Int(settleTimeout.nanoseconds))) {
            finish(false)
        }
        let goOn: @Sendable () -> Void = { [tasks] in
            tasks.unpause()
            finish(true)
        }
        if tasks.pause(whenQuiet: goOn) { goOn() }
    }
}
