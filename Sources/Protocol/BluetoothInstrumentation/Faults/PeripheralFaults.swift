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
    var delayed = DelayQueue<Held<Message>>()

    init(_ plan: FaultPlan, manager: Int, start: Duration) {
        matcher = FaultMatcher(plan, manager: manager, start: start)
    }

    mutating func dropAll() {
        requests = [:]
        delayed.dropAll()
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
        return admit(.command(command), effect, of: command.channel.map { .channel($0) } ?? .manager, now: now)
    }

    // MARK: Events

    mutating func event(_ event: PeripheralEvent, now: Duration) -> [Action] {
        if case .stateChanged(let state) = event {
            if state != .poweredOn { dropAll() }
            return [.pass(.event(event))]
        }
        let request = learn(event)
        let attribute = event.attribute ?? request?.attribute
        let effect = matcher.decide(
            .init(
                kind: .peripheralEvent(event.kind), characteristic: attribute.flatMap { characteristics[$0] },
                peer: event.central ?? request?.central),
            now: now)
        return admit(.event(event), effect, of: subject(of: event, request), now: now)
    }

    // MARK: Effects

    mutating func apply(_ effect: FaultEffect?, to message: Message, now: Duration) -> [Action] {
        switch effect {
        case nil, .delay: [.pass(message)]
        // Validation refuses a plan that ends a link in the peripheral role.
        case .drop, .disconnect: []
        case .error(let error):
            message.operation.map { [.pass(.event(.operationFailed(operation: $0, error: error)))] } ?? []
        case .corrupt: [.pass(message.corrupted(by: matcher.randomForCorruption()))]
        case .duplicate: [.pass(message), .pass(message)]
        }
    }

    // MARK: Subjects

    /// Stores requests until they are answered.
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

    private func subject(of event: PeripheralEvent, _ request: Request?) -> HoldLine.Subject {
        if let channel = event.channel { return .channel(channel) }
        return (event.central ?? request?.central).map { .peer($0) } ?? .manager
    }
}

extension FaultMessage<PeripheralCommand, PeripheralEvent> {
    fileprivate var operation: OperationID? {
        switch self {
        case .command(let command): command.operation
        case .event(let event): event.operation
        }
    }

    fileprivate func corrupted(by random: UInt64) -> Self {
        switch self {
        case .command(let command): .command(command.corrupted(by: random))
        case .event(let event): .event(event.corrupted(by: random))
        }
    }
}
