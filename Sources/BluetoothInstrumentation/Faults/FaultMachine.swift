import BluetoothBackend
import BluetoothSupport

/// What a fault machine wants done, in this order.
enum FaultAction<Command: Sendable, Event: Sendable>: Sendable {
    /// Submits a command to the backend.
    case submit(Command)
    /// The manager gets an event.
    case deliver(Event)
    /// ``FaultMachine/wakeCommands(_:now:)`` is due.
    case wakeCommands(line: HoldLine, after: Duration)
    /// ``FaultMachine/wakeEvents(_:now:)`` is due.
    case wakeEvents(line: HoldLine, after: Duration)
    /// All that was delivered before is to be handled, then this is to be called.
    case settle(@Sendable () -> Void)
}

/// What keeps its order when something in it is delayed.
enum HoldLine: Hashable, Sendable {
    /// What belongs to one link.
    case link(LinkID)
    /// What belongs to one peer but to no link.
    case peer(PeerID)
    /// What belongs to one channel.
    case channel(ChannelID)
    /// The rest of a manager's.
    case manager
}

/// The faults of one manager: commands and events go in, what shall happen comes out.
///
/// Pure.
protocol FaultMachine: Sendable {
    associatedtype Command: Sendable
    associatedtype Event: Sendable
    typealias Action = FaultAction<Command, Event>

    /// How many commands and events are held back.
    var heldBack: Int { get }

    /// The manager submits a command.
    mutating func command(_ command: Command, now: Duration) -> [Action]

    /// The backend delivers an event.
    mutating func event(_ event: Event, now: Duration) -> [Action]

    /// The head of a line of commands may be due.
    mutating func wakeCommands(_ line: HoldLine, now: Duration) -> [Action]

    /// The head of a line of events may be due.
    mutating func wakeEvents(_ line: HoldLine, now: Duration) -> [Action]

    /// The manager is gone.
    mutating func dropAll()
}

/// Says which fault hits what passes: counts, chances and times.
///
/// Pure.
struct FaultMatcher: Sendable {
    /// What a plan can see of a command or an event.
    struct FaultContext {
        var kind: FaultKind
        var characteristic: BluetoothUUID?
        var peer: PeerID?
    }

    private let faults: [Fault]
    private var counts: [Int]
    /// One stream for each fault, so that one fault's traffic does not change another's chance.
    private var generators: [SeededGenerator]
    /// For what corrupted values look like.
    private var corruption: SeededGenerator

    init(_ plan: FaultPlan) {
        faults = plan.faults
        counts = Array(repeating: 0, count: plan.faults.count)
        generators = plan.faults.indices.map {
            SeededGenerator(seed: plan.seed &+ UInt64($0 + 1) &* 0xD1B5_4A32_D192_ED03)
        }
        corruption = SeededGenerator(seed: plan.seed)
    }

    /// Records a command or an event.
    ///
    /// - Parameter elapsed: The time since the wrapper was made.
    /// - Returns: The effect of the first fault that is due.
    mutating func decide(_ context: FaultContext, elapsed: Duration) -> FaultEffect? {
        var effect: FaultEffect?
        for index in faults.indices where fits(faults[index].place, context) {
            counts[index] += 1
            if isDue(index, elapsed: elapsed), effect == nil { effect = faults[index].effect }
        }
        return effect
    }

    /// The next random number for corrupting a value.
    mutating func randomForCorruption() -> UInt64 { corruption.next() }

    private func fits(_ place: FaultPlace, _ context: FaultContext) -> Bool {
        place.kind == context.kind
            && (place.characteristic == nil || place.characteristic == context.characteristic)
            && (place.peer == nil || place.peer == context.peer)
    }

    private mutating func isDue(_ index: Int, elapsed: Duration) -> Bool {
        switch faults[index].trigger {
        case .once: counts[index] == 1
        case .nth(let number): counts[index] == number
        case .rate(let probability): Double.random(in: 0..<1, using: &generators[index]) < probability
        case .after(let time): elapsed >= time
        }
    }
}
