import BluetoothBackend

struct PeripheralFaults: FaultMachine {
    typealias Command = PeripheralCommand
    typealias Event = PeripheralEvent

    private struct Request {
        var central: PeerID
        var attribute: AttributeID?
    }

    var matcher: FaultMatcher
    private var characteristics: [AttributeID: BluetoothUUID] = [:]
    private var requests: [RequestID: Request] = [:]
    var commands = DelayQueue<Held<PeripheralCommand>>()
    var events = DelayQueue<Held<PeripheralEvent>>()

    init(_ plan: FaultPlan, start: Duration) {
        matcher = FaultMatcher(plan, start: start)
    }

    mutating func dropAll() {
        requests = [:]
        commands.dropAll()
        events.dropAll()
    }

    // MARK: Commands

    mutating func command(_ command: PeripheralCommand, now: Duration) -> [Action] {
        if case .addService(_, let service) = command {
            for added in service.characteristics { characteristics[added.id] = added.uuid }
        }
        let subject = subject(of: command)
        let effect = matcher.decide(
            .init(
                kind: .peripheralCommand(command.kind),
                characteristic: subject.attribute.flatMap { characteristics[$0] }, peer: subject.central),
            now: now)
        let line: HoldLine = command.channel.map { .channel($0) } ?? .manager
        return admit(command: command, effect, in: line, now: now)
    }

    mutating func apply(_ effect: FaultEffect?, to command: PeripheralCommand, now: Duration) -> [Action] {
        switch effect {
        case nil, .delay: return [.submit(command)]
        // A plan with a link's end at a peripheral's command is refused.
        case .drop, .disconnect: return []
        case .error(let error):
            return command.operation.map { [.deliver(.operationFailed(operation: $0, error: error))] } ?? []
        case .corrupt: return [.submit(command.corrupted(by: matcher.randomForCorruption()))]
        case .duplicate: return [.submit(command), .submit(command)]
        }
    }

    // MARK: Events

    mutating func event(_ event: PeripheralEvent, now: Duration) -> [Action] {
        if case .stateChanged(let state) = event {
            if state != .poweredOn { dropAll() }
            return [.deliver(event)]
        }
        let request = learn(event)
        let attribute = event.attribute ?? request?.attribute
        let effect = matcher.decide(
            .init(
                kind: .peripheralEvent(event.kind), characteristic: attribute.flatMap { characteristics[$0] },
                peer: event.central ?? request?.central),
            now: now)
        return admit(event: event, effect, in: line(of: event, request), now: now)
    }

    mutating func apply(_ effect: FaultEffect?, to event: PeripheralEvent, now: Duration) -> [Action] {
        switch effect {
        case nil, .delay: return [.deliver(event)]
        // A plan with a link's end at a peripheral's event is refused.
        case .drop, .disconnect: return []
        case .error(let error):
            return event.operation.map { [.deliver(.operationFailed(operation: $0, error: error))] } ?? []
        case .corrupt: return [.deliver(event.corrupted(by: matcher.randomForCorruption()))]
        case .duplicate: return [.deliver(event), .deliver(event)]
        }
    }

    // MARK: Subjects

    /// Remembers requests until they are answered.
    private mutating func learn(_ event: PeripheralEvent) -> Request? {
        switch event {
        case .readRequested(let id, let central, _, _, _), .writeRequested(let id, let central, _, _, _):
            requests[id] = Request(central: central, attribute: event.attribute)
            return requests[id]
        case .requestExpired(let id): return requests.removeValue(forKey: id)
        case .restored(let state):
            for added in state.services.flatMap(\.characteristics) { characteristics[added.id] = added.uuid }
            return nil
        default: return nil
        }
    }

    private mutating func subject(of command: PeripheralCommand) -> (attribute: AttributeID?, central: PeerID?) {
        switch command {
        case .respond(let id, _, _):
            let request = requests.removeValue(forKey: id)
            return (request?.attribute, request?.central)
        case .updateValue(let attribute, _, _): return (attribute, nil)
        case .setConnectionLatency(let central, _): return (nil, central)
        default: return (nil, nil)
        }
    }

    private func line(of event: PeripheralEvent, _ request: Request?) -> HoldLine {
        if let channel = event.channel { return .channel(channel) }
        return (event.central ?? request?.central).map { .peer($0) } ?? .manager
    }
}
