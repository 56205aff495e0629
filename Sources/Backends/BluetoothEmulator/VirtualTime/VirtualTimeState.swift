import BluetoothBackend
import BluetoothSupport
import DequeModule
import Synchronization

struct VirtualTimeState: Sendable {
    /// The number of ``TimeHold``s that keep time from advancing.
    var holds = 0
    /// The closures that wait for the release of the last hold.
    var waiters: [@Sendable () -> Void] = []
    var isDriven = false
    /// The number of active scopes, whose tasks all belong to this world.
    var scopes = 0
    /// Whether receivers may have unfinished work.
    var isUnsettled = true
    /// Whether the taps may have unfinished work.
    var areTapsUnsettled = false
    var stepsAtInstant = 0
    /// The number of steps at one instant that counts as a livelock.
    let stepLimit = 100_000
    /// The maximum duration of a wait, in real time.
    var settleTimeout = Duration.seconds(10)
    /// The time at which the last step of a performed script is over.
    var endOfScript = Duration.zero
}

/// The condition that ends a drive.
enum DriveGoal: Sendable {
    /// The drive ends at an instant.
    case instant
    /// The drive ends when only periodic events are pending; it fails at the limit.
    case idle
}

extension EmulatorCore {
    enum DriveStep: Sendable {
        /// A sink that received an event, the delivery to start or to run, and the taps that received earlier ones.
        case settle(RoleSink, (any PendingDelivery)?, taps: [RoleSink]?)
        case settleAll([RoleSink])
        case sideEffect(SideEffect)
        case awaitHolds
        case ended(VirtualTimeRun.Outcome)
    }

    /// Returns the taps that may have unfinished work, for a wait; nil if no tap received an event.
    private mutating func takeUnsettledTaps() -> [RoleSink]? {
        guard virtual.areTapsUnsettled else { return nil }
        virtual.areTapsUnsettled = false
        return taps.unsettled.map(RoleSink.tap)
    }

    /// Steps until work must be done outside the lock.
    ///
    /// Time leaves an instant only when nothing is due, everything is delivered and every sink has settled.
    mutating func drive(until limit: Nanoseconds, _ goal: DriveGoal) -> DriveStep {
        while true {
            if let output = world.lower.context.outputs.popFirst() {
                switch dispatch(output) {
                case .dropped: continue
                case .tapped:
                    virtual.areTapsUnsettled = true
                    continue
                case .delivered(let sink, let delivery):
                    virtual.isUnsettled = true
                    return .settle(sink, delivery, taps: takeUnsettledTaps())
                case .sideEffect(let sideEffect):
                    virtual.isUnsettled = true
                    return .sideEffect(sideEffect)
                }
            }
            if world.lower.context.queue.hasWorkNow {
                virtual.stepsAtInstant += 1
                guard virtual.stepsAtInstant <= virtual.stepLimit else {
                    let tail = Array(world.lower.context.trace.entries.suffix(20))
                    return .ended(.failed(.livelock(at: .nanoseconds(world.lower.context.now), trace: tail)))
                }
                _ = world.step(until: world.lower.context.now)
                continue
            }
            if takeUnsettledTaps()?.isEmpty == false || virtual.isUnsettled {
                virtual.isUnsettled = false
                return .settleAll(allSinks)
            }
            if virtual.holds > 0 { return .awaitHolds }
            if goal == .idle, world.lower.context.queue.isIdle { return end(.isIdle) }
            virtual.stepsAtInstant = 0
            if !world.step(until: limit) { return end(.reachedLimit) }
        }
    }

    /// Ends a drive once every tap has received all events.
    private func end(_ outcome: VirtualTimeRun.Outcome) -> DriveStep {
        let behind = taps.behind.map(RoleSink.tap)
        return behind.isEmpty ? .ended(outcome) : .settleAll(behind)
    }
}

/// A token that keeps virtual time from advancing while app code runs that the emulator cannot observe, such as a task.
///
/// ``release()`` ends the hold, and so does releasing the last reference. Real time is not affected. While the task that
/// took the hold sleeps, the hold does not keep time from advancing.
public final class TimeHold: Sendable {
    @TaskLocal static var current: TimeHold?

    /// The phases of a hold; the raw values are those of an atomic.
    private enum Phase: UInt8, AtomicRepresentable {
        case active
        /// Until the end of a sleep.
        case paused
        case released
    }

    private let emulator: Emulator
    private let phase = Atomic(Phase.active)

    init(_ emulator: Emulator) {
        self.emulator = emulator
        begin()
    }

    deinit { release() }

    /// Lets time advance; a second call has no effect.
    public func release() {
        if phase.exchange(.released, ordering: .sequentiallyConsistent) == .active { end() }
    }

    /// Lets time advance during a sleep.
    func pause() {
        if change(from: .active, to: .paused) { end() }
    }

    /// Holds time again after a sleep; has no effect after the release.
    func retake() {
        if change(from: .paused, to: .active) { begin() }
    }

    private func change(from old: Phase, to new: Phase) -> Bool {
        phase.compareExchange(expected: old, desired: new, ordering: .sequentiallyConsistent).exchanged
    }

    private func begin() { emulator.core.withLock { $0.virtual.holds += 1 } }

    private func end() {
        let waiters = emulator.core.withLock { core -> [@Sendable () -> Void] in
            core.virtual.holds -= 1
            core.virtual.isUnsettled = true
            guard core.virtual.holds == 0 else { return [] }
            return exchange(&core.virtual.waiters, with: [])
        }
        for waiter in waiters { waiter() }
    }
}
