import BluetoothBackend
import BluetoothSupport
import Dispatch

/// One run of virtual time, from its first step to its end.
///
/// A run needs no dedicated thread. It begins on the caller's thread and continues where the last sink settled, which
/// is usually that sink's queue, so several events for one sink need no thread switch. A single wait of ten real
/// seconds ends the run; see ``WaitAge``.
final class VirtualTimeRun: Sendable {
    enum Outcome: Sendable {
        /// An event was handled, and the run was to stop at that event.
        case quiescent
        case met
        case reachedLimit
        case isIdle
        case failed(EmulatorError)
    }

    /// The reason for which a run waits, outside every lock.
    private enum Wait: Sendable {
        case sink(RoleSink)
        case holds
        case tasks
    }

    private struct State {
        /// The world; nil after the run ended, so that the receiver of the outcome may hold its last reference.
        var emulator: Emulator?
        var wait: Wait?
        var number: UInt64 = 0
        /// Whether the thread that begins the wait still does so; that thread then continues the run itself.
        var isBeginning = false
        /// The sinks that have not settled at this instant.
        var unsettled: ArraySlice<RoleSink> = []
        /// The number of task jobs when all sinks were last found settled.
        var taskCount: UInt64 = 0
        /// Whether the last probe of the global queue has not run yet.
        var isProbing = false
        var hasDelivered = false
        var finish: (@Sendable (Outcome) -> Void)?
    }

    static let queue = DispatchQueue(label: "CoreBluetooth emulator driver")

    private let limit: Nanoseconds
    private let goal: DriveGoal
    private let stopsWhenQuiescent: Bool
    private let condition: @Sendable () -> Bool
    private let state: Lock<State>

    private enum Step {
        case done
        /// The run waits, and continues by itself.
        case waits
        case ended(Outcome)
    }

    /// Prepares a run.
    ///
    /// - Parameters:
    ///   - limit: The instant at which the run ends.
    ///   - stopsWhenQuiescent: Whether the run ends with the first handled event.
    ///   - condition: Ends the run when it is true; evaluated first and after each handled event.
    init(
        _ emulator: Emulator, until limit: Nanoseconds, _ goal: DriveGoal, stopsWhenQuiescent: Bool = false,
        condition: @escaping @Sendable () -> Bool = { false }
    ) {
        state = Lock(State(emulator: emulator))
        self.limit = limit
        self.goal = goal
        self.stopsWhenQuiescent = stopsWhenQuiescent
        self.condition = condition
    }

    /// Starts the run, which calls `finish` once, on any thread.
    func start(_ finish: @escaping @Sendable (Outcome) -> Void) {
        state.withLock { $0.finish = finish }
        watch()
        proceed()
    }

    /// Steps until the run must wait or ends; never runs on two threads at once.
    private func proceed() {
        while true {
            switch step() {
            case .done: break
            case .waits: return
            case .ended(let outcome): return end(outcome)
            }
        }
    }

    private func step() -> Step {
        let (emulator, sink) = state.withLock { ($0.emulator, $0.unsettled.popFirst()) }
        guard let emulator else { return .waits }
        if let sink { return settle(sink) ? .done : .waits }
        guard waitForTasks(of: emulator) else { return .waits }
        for check in emulator.checks.withLock({ $0 }) { check() }
        if condition() { return .ended(.met) }
        if stopsWhenQuiescent, state.withLock({ $0.hasDelivered }) { return .ended(.quiescent) }
        switch emulator.core.withLock({ $0.drive(until: limit, goal) }) {
        case .settle(let sink, let delivery, let taps):
            state.withLock { state in
                state.hasDelivered = true
                if let taps { state.unsettled = taps[...] }
            }
            return settle(sink, delivery) ? .done : .waits
        case .settleAll(let sinks): state.withLock { $0.unsettled = sinks[...] }
        case .sideEffect(let sideEffect): sideEffect(emulator)
        case .awaitHolds: return waitForHolds(of: emulator) ? .done : .waits
        case .ended(let outcome): return .ended(outcome)
        }
        return .done
    }

    /// Waits until a sink has handled its events.
    ///
    /// The thread of the tasks handles them itself, between two tasks; the sink's queue may need any other thread.
    private func settle(_ sink: RoleSink, _ delivery: (any PendingDelivery)? = nil) -> Bool {
        wait(for: .sink(sink)) { goOn in
            let marker = sink.appendMarker(goOn)
            for pending in [delivery, marker] {
                if TaskQueue.betweenTasks.isSet { pending?.run() } else { pending?.start() }
            }
        }
    }

    private func waitForHolds(of emulator: Emulator) -> Bool {
        // The thread that releases the last hold must not run the world.
        emulator.tasks.unpause()
        return wait(for: .holds) { goOn in
            emulator.whenReleased { Self.queue.async(execute: goOn) }
        }
    }

    /// Waits until all tasks are waiting; sinks may then have to handle what the tasks did.
    private func waitForTasks(of emulator: Emulator) -> Bool {
        let isOver = wait(for: .tasks) { goOn in
            if emulator.pauseTasks(whenQuiet: goOn) { goOn() }
        }
        guard isOver else { return false }
        let count = emulator.tasks.count
        let haveRun = state.withLock { exchange(&$0.taskCount, with: count) != count }
        if haveRun { emulator.core.withLock { $0.virtual.isUnsettled = true } }
        return true
    }

    /// Begins a wait.
    ///
    /// - Returns: Whether the wait has already ended; if not, the run continues when it ends.
    private func wait(for wait: Wait, _ begin: (@escaping @Sendable () -> Void) -> Void) -> Bool {
        let number = state.withLock { state -> UInt64 in
            state.number += 1
            state.wait = wait
            state.isBeginning = true
            return state.number
        }
        begin { [self] in
            let mustProceed = state.withLock { state -> Bool in
                guard state.number == number, state.finish != nil else { return false }
                state.wait = nil
                return !state.isBeginning
            }
            if mustProceed { proceed() }
        }
        return state.withLock { state in
            state.isBeginning = false
            return state.wait == nil && state.finish != nil
        }
    }

    private func end(_ outcome: Outcome) {
        let finish = conclude()
        finish?(outcome)
    }

    /// Ends the run and releases the world.
    ///
    /// - Returns: The receiver of the outcome; nil if the run has already ended.
    private func conclude() -> (@Sendable (Outcome) -> Void)? {
        let (finish, emulator) = state.withLock { ($0.finish.take(), $0.emulator.take()) }
        // Tasks see the time at which the run ended, whether or not an event was delivered then.
        emulator?.core.withLock { $0.deliveryTime.set($0.world.lower.context.now) }
        emulator?.tasks.unpause()
        return finish
    }

    // MARK: The time limit of a wait

    /// Ends the run when a wait exceeds the time limit.
    private func watch(_ number: UInt64 = 0, age: WaitAge = WaitAge()) {
        guard let emulator = state.withLock({ $0.emulator }) else { return }
        let tick = emulator.core.withLock { $0.virtual.settleTimeout } / WaitAge.limit
        Self.queue.asyncAfter(machineDeadline: .now() + .nanoseconds(Int(tick.nanoseconds))) { [weak self] in
            self?.checkAge(number, age: age)
        }
    }

    private func checkAge(_ number: UInt64, age: WaitAge) {
        let (emulator, current, wait) = state.withLock { ($0.emulator, $0.number, $0.wait) }
        guard let emulator else { return }
        var isOurs = wait != nil
        // Only this world's app code can end the wait. Other tests may delay it, but must not make it fail.
        if case .tasks? = wait { isOurs = !emulator.tasks.isQuiet }
        var age = current == number && isOurs ? age : WaitAge()
        if isOurs, current == number { age.tick(hasFreeThreads: hasFreeThreads()) }
        // A job that blocks its thread may wait for another job.
        if age.hasTicked, case .tasks? = wait { emulator.tasks.passTurn() }
        guard age.isOver, let wait else { return watch(current, age: age) }
        switch wait {
        case .sink(let sink):
            emulator.tasks.leaveThread()
            end(.failed(.unsettled(label: sink.label)))
        case .holds: end(.failed(.held))
        case .tasks: end(.failed(.tasksUnsettled))
        }
    }

    /// Returns whether work that the previous call put into the global queue has run since.
    private func hasFreeThreads() -> Bool {
        let isAnswered = state.withLock { !exchange(&$0.isProbing, with: true) }
        if isAnswered {
            DispatchQueue.global().async { [weak self] in self?.state.withLock { $0.isProbing = false } }
        }
        return isAnswered
    }
}

/// The age of a wait, in tenths of its time limit during which the process had free threads.
///
/// A process whose threads are all busy is slow, not stuck: the work that would end the wait has no thread. Five ticks
/// without a free thread count as one, so every wait ends after at most five times its limit.
///
/// Pure.
struct WaitAge: Sendable {
    /// The number of ticks after which the wait ends.
    static let limit = 10
    private static let busyTicksPerTick = 5

    private var ticks = 0
    private var busyTicks = 0

    /// Whether the wait has lasted for at least a tick.
    var hasTicked: Bool { ticks + busyTicks > 0 }

    var isOver: Bool { ticks >= Self.limit }

    /// Counts a tenth of the time limit.
    mutating func tick(hasFreeThreads: Bool) {
        busyTicks += 1
        guard hasFreeThreads || busyTicks == Self.busyTicksPerTick else { return }
        ticks += 1
        busyTicks = 0
    }
}
