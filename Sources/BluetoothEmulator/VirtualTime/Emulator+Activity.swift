import BluetoothSupport
import Dispatch
import Synchronization

/// What a world with virtual time is at: two equal values, some time apart, tell that nothing happened in between.
package struct EmulatorActivity: Equatable, Sendable {
    /// Whether somebody drives time.
    package var isDriven: Bool
    /// Whether a ``TimeHold`` keeps time from advancing.
    package var isHeld: Bool
    /// Whether time would bring something about.
    package var hasWork: Bool
    /// Whether no task of this world has anything to do.
    package var areTasksQuiet: Bool
    /// How many jobs of tasks there have been.
    package var taskCount: UInt64
    /// The world's time.
    package var now: Duration
}

extension Emulator {
    /// What the world is at.
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
