import BluetoothBackend
import BluetoothSupport
import Dispatch

/// Tasks in virtual time.
extension Emulator {
    /// An executor that runs tasks one at a time, in the order in which they become ready; virtual time waits for them.
    ///
    /// Use it for tasks that the emulator cannot observe otherwise: `Task(executorPreference: emulator.executor) { …
    /// }`. The emulator also waits for tasks that app code starts within ``run(within:_:)``, within a test that has an
    /// emulator, or within a callback of a manager; these need no executor. In real time, it is an ordinary serial
    /// executor.
    public var executor: any TaskExecutor { tasks }

    /// Runs `body` while virtual time advances, until `body` ends.
    ///
    /// Time advances only when all tasks are waiting: `body`, its child tasks, and tasks that they or the callbacks of
    /// managers start. Managers that `body` creates without naming a backend are in this world, and `withTimeout` of
    /// AsyncBluetooth uses this world's time. If the caller is cancelled, so is `body`.
    ///
    /// - Parameters:
    ///   - limit: The maximum virtual time, after which `body` is cancelled.
    ///   - body: Runs on the actor of the caller, or on ``executor`` if the caller has no actor.
    /// - Returns: The result of `body`.
    /// - Throws: The error of `body`; ``EmulatorError`` as ``advance(by:)`` does, and
    ///   ``EmulatorError/notFinished(within:)`` at the limit.
    public func run<Result: Sendable>(
        within limit: Duration = .seconds(3600),
        @_inheritActorContext _ body: @escaping @Sendable @isolated(any) () async throws -> Result
    ) async throws -> Result {
        guard time == .virtual else { throw EmulatorError.notVirtual }
        let hasEnded = Lock(false)
        enterScope()
        defer { leaveScope() }
        let task = Task(executorPreference: tasks) { @Sendable in
            defer { hasEnded.withLock { $0 = true } }
            return try await SelectedBackend.$current.withValue(self) { try await body() }
        }
        do {
            try await withTaskCancellationHandler {
                try await advance(until: { hasEnded.withLock { $0 } }, within: limit)
            } onCancel: {
                task.cancel()
            }
        } catch EmulatorError.conditionNotMet {
            task.cancel()
            try await endCancelled(within: .seconds(60)) { hasEnded.withLock { $0 } }
            throw EmulatorError.notFinished(within: limit)
        } catch {
            task.cancel()
            throw error
        }
        return try await task.value
    }

    /// Lets a cancelled body end; a body that ignores the cancellation is abandoned.
    private func endCancelled(within limit: Duration, _ isDone: @escaping @Sendable () -> Bool) async throws {
        do {
            try await advance(until: isDone, within: limit)
        } catch EmulatorError.conditionNotMet {}
    }

    /// Begins a scope: code of this world, with all tasks that it starts.
    package func enterScope() { core.withLock { $0.virtual.scopes += 1 } }

    /// Ends a scope.
    package func leaveScope() { core.withLock { $0.virtual.scopes -= 1 } }

    /// Runs `body` on this thread; tasks that it starts belong to this world.
    package func withTaskContext<Result>(_ body: () throws -> Result) rethrows -> Result {
        guard time == .virtual else { return try body() }
        return try TaskContext(.world(tasks)).perform(body)
    }

    /// Releases the blocks of `DispatchQueue.asyncAfter` that wait at the end of a test; they do not run.
    ///
    /// Otherwise, a block that refers to its app would keep it and this world alive, as nothing drives time any longer.
    package func dropDelayedBlocks() {
        #if os(Linux)
        tasks.time?.dropCalls()
        #endif
    }

    /// Pauses this world's tasks when all are waiting, and so are those of the process that may belong to it.
    ///
    /// - Parameter body: Called when the tasks are paused, unless they are paused at once.
    /// - Returns: Whether the tasks are paused now.
    func pauseTasks(whenQuiet body: @escaping @Sendable () -> Void) -> Bool {
        let isScoped = core.withLock { $0.virtual.scopes > 0 }
        let kinds = isScoped ? UnattributedJobs.Kind.unknown : UnattributedJobs.Kind.all
        return tasks.pause(without: kinds, whenQuiet: body)
    }
}

/// The activity of a world with virtual time; two equal values prove that nothing happened between their readings.
package struct EmulatorActivity: Equatable, Sendable {
    /// Whether time is being driven.
    package var isDriven: Bool
    /// Whether a ``TimeHold`` keeps time from advancing.
    package var isHeld: Bool
    /// Whether an advance of time would cause anything.
    package var hasWork: Bool
    /// Whether all tasks of this world are waiting.
    package var areTasksQuiet: Bool
    /// The number of jobs that tasks have run so far.
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
                hasWork: core.world.lower.context.queue.nextDue != nil || !core.world.lower.context.outputs.isEmpty,
                areTasksQuiet: isQuiet,
                taskCount: count, now: .nanoseconds(core.world.lower.context.now))
        }
    }

    /// The maximum real time for which virtual time waits for app code; ten seconds by default.
    package var settleTimeout: Duration {
        get { core.withLock { $0.virtual.settleTimeout } }
        set { core.withLock { $0.virtual.settleTimeout = newValue } }
    }

    /// Drives time without a task, while others wait; time no longer waits for a job that blocks its thread.
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

    /// Calls `body` on any thread when all tasks of this world are waiting, or after the settle timeout.
    package func afterTasks(_ body: @escaping @Sendable (_ areQuiet: Bool) -> Void) {
        // Cancelled at the end of the wait: a call to come would keep the caller's objects alive.
        let limit = SystemClock().call(after: settleTimeout) { body(false) }
        let goOn: @Sendable () -> Void = { [tasks] in
            let isInTime = limit.claim()
            tasks.unpause()
            if isInTime { body(true) }
        }
        if tasks.pause(whenQuiet: goOn) { goOn() }
    }

    /// Calls an asynchronous handler, after the earlier calls of its device; virtual time pauses until all have returned.
    func call(_ call: HandlerCall) {
        switch calls.add(call) {
        case .waiting: return
        case .dropped:
            return perform {
                $0.world.lower.context.log("\(HandlerCalls.limit) calls of the device's handler wait: one more dropped")
            }
        case .first: break
        }
        let hold = hold()
        Task(executorPreference: tasks) {
            await TimeHold.$current.withValue(hold) {
                while let call = self.calls.next(of: call.sequence) {
                    if let reply = await call.perform() { self.submit(.answered(reply)) }
                }
            }
            hold.release()
        }
    }
}
