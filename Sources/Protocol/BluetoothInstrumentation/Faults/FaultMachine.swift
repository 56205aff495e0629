import BluetoothBackend
import BluetoothSupport

/// A command on its way to the backend, or an event on its way to the manager.
enum FaultMessage<Command: Sendable, Event: Sendable>: Sendable {
    case command(Command)
    case event(Event)
}

enum FaultAction<Command: Sendable, Event: Sendable>: Sendable {
    /// Submits a command to the backend, or delivers an event to the manager.
    case pass(FaultMessage<Command, Event>)
    /// ``FaultMachine/wake(_:now:)`` is due.
    case wake(line: HoldLine, after: Duration)
    /// The earlier deliveries must be handled, and then this closure called.
    case settle(@Sendable () -> Void)
}

/// A sequence of commands, or of events, whose order a delay preserves.
struct HoldLine: Hashable, Sendable {
    /// A link, a peer without a link, a channel, or the manager for everything else.
    enum Subject: Hashable, Sendable {
        case link(LinkID), peer(PeerID), channel(ChannelID), manager
    }

    let isOfCommands: Bool
    let subject: Subject
}

/// A delayed message, and the effect that still applies to it.
struct Held<Message: Sendable>: Sendable {
    var message: Message
    var effect: FaultEffect?
}

/// The faults of one manager: it takes commands and events, and returns actions.
///
/// Pure.
protocol FaultMachine: Sendable {
    associatedtype Command: Sendable
    associatedtype Event: Sendable
    typealias Action = FaultAction<Command, Event>
    typealias Message = FaultMessage<Command, Event>

    var delayed: DelayQueue<Held<Message>> { get set }

    mutating func command(_ command: Command, now: Duration) -> [Action]

    mutating func event(_ event: Event, now: Duration) -> [Action]

    /// Applies the effect of a fault to a message that is no longer delayed.
    mutating func apply(_ effect: FaultEffect?, to message: Message, now: Duration) -> [Action]

    /// Drops all messages, because the manager is gone.
    mutating func dropAll()
}

extension FaultMachine {
    /// Lets a message pass, or delays it.
    mutating func admit(
        _ message: Message, _ effect: FaultEffect?, of subject: HoldLine.Subject, now: Duration
    ) -> [Action] {
        let isCommand = if case .command = message { true } else { false }
        let line = HoldLine(isOfCommands: isCommand, subject: subject)
        return switch delayed.admit(Held(message: message, effect: effect), in: line, delay: effect?.delay, now: now) {
        case .passes: apply(effect, to: message, now: now)
        case .heads(let wait): [.wake(line: line, after: wait)]
        case .follows: []
        }
    }

    /// Passes the head of a line if it is due.
    mutating func wake(_ line: HoldLine, now: Duration) -> [Action] {
        var actions: [Action] = []
        while let held = delayed.next(in: line, now: now) { actions += apply(held.effect, to: held.message, now: now) }
        if let wait = delayed.wait(in: line, now: now) { actions.append(.wake(line: line, after: wait)) }
        return actions
    }
}

extension FaultEffect {
    fileprivate var delay: Duration? { if case .delay(let time) = self { time } else { nil } }
}

/// Decides which fault applies to a command or an event, by counts, chances and times.
///
/// Pure.
struct FaultMatcher: Sendable {
    /// The properties of a command or an event that a plan can name.
    struct FaultContext {
        var kind: FaultKind
        var characteristic: BluetoothUUID?
        var peer: PeerID?
    }

    private let faults: [Fault]
    /// The number of the manager among those of its role, from 1 on.
    private let manager: Int
    /// The time at which the wrapper was created.
    private let start: Duration
    private var counts: [Int]
    /// One generator for each fault, so that one fault's traffic does not change another's chance.
    private var generators: [SeededGenerator]
    /// The generator of corrupted values.
    private var corruption: SeededGenerator

    init(_ plan: FaultPlan, manager: Int, start: Duration) {
        faults = plan.faults
        self.manager = manager
        self.start = start
        counts = Array(repeating: 0, count: plan.faults.count)
        generators = plan.faults.indices.map {
            SeededGenerator(seed: plan.seed &+ UInt64($0 + 1) &* 0xD1B5_4A32_D192_ED03)
        }
        corruption = SeededGenerator(seed: plan.seed)
    }

    /// Records a command or an event.
    ///
    /// - Returns: The effect of the first fault that is due.
    mutating func decide(_ context: FaultContext, now: Duration) -> FaultEffect? {
        var effect: FaultEffect?
        for index in faults.indices where fits(faults[index].place, context) {
            counts[index] += 1
            if isDue(index, elapsed: now - start), effect == nil { effect = faults[index].effect }
        }
        return effect
    }

    /// The next random number for corrupting a value.
    mutating func randomForCorruption() -> UInt64 { corruption.next() }

    private func fits(_ place: FaultPlace, _ context: FaultContext) -> Bool {
        place.kind == context.kind
            && (place.characteristic == nil || place.characteristic == context.characteristic)
            && (place.peer == nil || place.peer == context.peer)
            && (place.manager == nil || place.manager == manager)
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
