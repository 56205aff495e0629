import BluetoothBackend
import DequeModule

/// How virtual time stands.
struct VirtualTimeState: Sendable {
    /// How many ``TimeHold``s keep time from going on.
    var holds = 0
    /// Those who wait for the last hold to go.
    var waiters: [@Sendable () -> Void] = []
    var isDriven = false
    /// How many pieces of code run whose tasks all belong to this world.
    var scopes = 0
    /// Receivers may have something to do that they were not seen to finish.
    var isUnsettled = true
    var stepsAtInstant = 0
    /// So many steps at one instant are a livelock.
    let stepLimit = 100_000
    /// The longest wait, in real time.
    var patience = Duration.seconds(10)
}

/// Where a drive ends.
enum DriveGoal: Sendable {
    /// At an instant.
    case instant
    /// When nothing but periodic events is pending; fails at the limit.
    case idle
}

extension EmulatorCore {
    /// What the driver must do before it asks again.
    enum DriveStep: Sendable {
        case settle(Receiver)
        case settleAll([Receiver])
        case errand(Errand)
        case awaitHolds
        case reachedLimit
        case isIdle
        case livelock([String])
    }

    /// Goes on until something has to be done outside the lock.
    ///
    /// An instant is left only when nothing is due, all is delivered and every receiver has settled.
    mutating func drive(until limit: Nanoseconds, _ goal: DriveGoal) -> DriveStep {
        while true {
            if let output = world.outputs.popFirst() {
                switch hand(over: output) {
                case .nobody: continue
                case .delivered(let receiver):
                    virtual.isUnsettled = true
                    return .settle(receiver)
                case .errand(let errand):
                    virtual.isUnsettled = true
                    return .errand(errand)
                }
            }
            if world.queue.hasWorkNow {
                virtual.stepsAtInstant += 1
                if virtual.stepsAtInstant > virtual.stepLimit { return .livelock(world.trace.tail(20)) }
                _ = world.step(until: world.now)
                continue
            }
            if virtual.isUnsettled {
                virtual.isUnsettled = false
                return .settleAll(allReceivers)
            }
            if virtual.holds > 0 { return .awaitHolds }
            if goal == .idle, world.queue.isIdle { return .isIdle }
            virtual.stepsAtInstant = 0
            if !world.step(until: limit) { return .reachedLimit }
        }
    }
}
