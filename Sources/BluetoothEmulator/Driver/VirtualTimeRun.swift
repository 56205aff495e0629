import BluetoothSupport
import Dispatch
import Synchronization

/// One drive of virtual time, from its first step to its end.
///
/// It needs no thread of its own: it begins on the caller's and goes on where the last sink has settled, which is
/// mostly that sink's queue; so a run of events to one sink costs no hop. A wait of ten real seconds ends it.
final class VirtualTimeRun: Sendable {
    /// How a drive ended.
    enum Outcome: Sendable {
        /// An event was handled, and the drive was to go no further.
        case settled
        /// The condition is true.
        case met
        case reachedLimit
        case isIdle
        case failed(EmulatorError)
    }

    /// What a drive waits for, outside every lock.
    private enum Wait: Sendable {
        case sink(RoleSink)
        case holds
        case tasks
    }

    private struct State {
        /// The world; nil once the drive has ended, so that whoever learns of the end may be its last owner.
        var emulator: Emulator?
        var wait: Wait?
        /// Tells the present wait from earlier ones.
        var number: UInt64 = 0
        /// The thread that began the wait is not through with it: it goes on by itself.
        var isBeginning = false
        /// The sinks that are still to settle at this instant.
        var unsettled: ArraySlice<RoleSink> = []
        /// How many jobs of tasks there had been when the sinks were last seen to be settled.
        var taskCount: UInt64 = 0
        /// Whether an event was handed to a sink.
        var hasDelivered = false
        var finish: (@Sendable (Outcome) -> Void)?
    }

    static let queue = DispatchQueue(label: "CoreBluetooth emulator driver")

    private let limit: Nanoseconds
    private let goal: DriveGoal
    private let stopsWhenSettled: Bool
    private let condition: @Sendable () -> Bool
    private let state: Lock<State>

    /// What one step of a drive comes to.
    private enum Step {
        case done
        /// It goes on by itself when a wait is over.
        case waits
        case ended(Outcome)
    }

    /// Prepares a drive.
    ///
    /// - Parameters:
    ///   - limit: The instant at which it ends.
    ///   - stopsWhenSettled: Whether it ends with the first handled event.
    ///   - condition: Ends it, too; asked at first and after each handled event.
    init(
        _ emulator: Emulator, until limit: Nanoseconds, _ goal: DriveGoal, stopsWhenSettled: Bool = false,
        condition: @escaping @Sendable () -> Bool = { false }
    ) {
        state = Lock(State(emulator: emulator))
        self.limit = limit
        self.goal = goal
        self.stopsWhenSettled = stopsWhenSettled
        self.condition = condition
    }

    /// Begins; calls `finish` once, on any thread.
    func start(_ finish: @escaping @Sendable (Outcome) -> Void) {
        state.withLock { $0.finish = finish }
        watch()
        proceed()
    }

    /// Goes on until something must be waited for or the drive ends; never on two threads at once.
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
        if let sink { return wait(for: .sink(sink), sink.afterDelivery) ? .done : .waits }
        guard waitForTasks(of: emulator) else { return .waits }
        if condition() { return .ended(.met) }
        if stopsWhenSettled, state.withLock({ $0.hasDelivered }) { return .ended(.settled) }
        switch emulator.core.withLock({ $0.drive(until: limit, goal) }) {
        case .settle(let sink):
            state.withLock { $0.hasDelivered = true }
            return wait(for: .sink(sink), sink.afterDelivery) ? .done : .waits
        case .settleAll(let sinks): state.withLock { $0.unsettled = sinks[...] }
        case .sideEffect(let sideEffect): emulator.run(sideEffect)
        case .awaitHolds: return waitForHolds(of: emulator) ? .done : .waits
        case .reachedLimit: return .ended(.reachedLimit)
        case .isIdle: return .ended(.isIdle)
        case .livelock(let tail): return .ended(.failed(.livelock(at: emulator.now, trace: tail)))
        }
        return .done
    }

    private func waitForHolds(of emulator: Emulator) -> Bool {
        // Whoever releases the last hold must not have to drive.
        emulator.tasks.unpause()
        return wait(for: .holds) { goOn in
            emulator.whenReleased { Self.queue.async(execute: goOn) }
        }
    }

    /// Waits until no task has anything to do; what they did, sinks may have to handle.
    private func waitForTasks(of emulator: Emulator) -> Bool {
        let isOver = wait(for: .tasks) { goOn in
            if emulator.pauseTasks(whenQuiet: goOn) { goOn() }
        }
        guard isOver else { return false }
        let count = emulator.tasks.count
        let haveRun = state.withLock { state -> Bool in
            defer { state.taskCount = count }
            return state.taskCount != count
        }
        if haveRun { emulator.core.withLock { $0.virtual.isUnsettled = true } }
        return true
    }

    /// Begins a wait.
    ///
    /// - Returns: Whether it is over already; if not, the drive goes on when it is.
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

    /// Lets go of the world.
    ///
    /// - Returns: Who is to learn of the end; nil where that was done.
    private func conclude() -> (@Sendable (Outcome) -> Void)? {
        let (finish, emulator) = state.withLock { state in
            defer { (state.finish, state.emulator) = (nil, nil) }
            return (state.finish, state.emulator)
        }
        emulator?.tasks.unpause()
        return finish
    }

    /// Ends the drive when one wait has taken all settleTimeout.
    private func watch(_ number: UInt64 = 0, age: Int = 0) {
        guard let emulator = state.withLock({ $0.emulator }) else { return }
        let tick = emulator.core.withLock { $0.virtual.settleTimeout } / 10
        Self.queue.asyncAfter(deadline: .now() + .nanoseconds(Int(tick.nanoseconds))) { [weak self] in
            self?.look(number, age: age)
        }
    }

    private func look(_ number: UInt64, age: Int) {
        let (emulator, current, wait) = state.withLock { ($0.emulator, $0.number, $0.wait) }
        guard let emulator else { return }
        var isOurs = wait != nil
        // What this world's app code does ends a wait; other tests may delay this one, and not fail it.
        if case .tasks? = wait { isOurs = !emulator.tasks.isQuiet }
        let age = current == number && isOurs ? age + 1 : 0
        // A job that blocks its thread may wait for another one.
        if age > 0, case .tasks? = wait { emulator.tasks.passTurn() }
        guard age >= 10, let wait else { return watch(current, age: age) }
        switch wait {
        case .sink(let sink): end(.failed(.unsettled(label: sink.label)))
        case .holds: end(.failed(.held))
        case .tasks: end(.failed(.tasksUnsettled))
        }
    }
}
