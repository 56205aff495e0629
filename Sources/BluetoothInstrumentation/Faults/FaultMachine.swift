import BluetoothBackend

/// What a fault machine wants done, in this order.
enum FaultAction<Command: Sendable, Event: Sendable>: Sendable {
    /// The radio gets a command.
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

    /// The radio delivers an event.
    mutating func event(_ event: Event, now: Duration) -> [Action]

    /// The head of a line of commands may be due.
    mutating func wakeCommands(_ line: HoldLine, now: Duration) -> [Action]

    /// The head of a line of events may be due.
    mutating func wakeEvents(_ line: HoldLine, now: Duration) -> [Action]

    /// The manager is gone.
    mutating func dropAll()
}
