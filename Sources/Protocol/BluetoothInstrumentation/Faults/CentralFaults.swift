import BluetoothBackend

struct CentralFaults: FaultMachine {
    typealias Command = CentralCommand
    typealias Event = CentralEvent

    /// The known facts of an open link.
    struct Link: Sendable {
        let peer: PeerID
        var attributes = AttributeDirectory()
        /// The attributes of open operations.
        var subjects: [OperationID: AttributeID] = [:]
        var order = ResponseOrder<CentralEvent>()
        /// The reason of a fault that ended the link, until the backend reports the end.
        var lostBy: DisconnectReason?
    }

    struct Connect: Sendable {
        var operation: OperationID
        var options: ConnectOptions
    }

    var matcher: FaultMatcher
    var links: [LinkID: Link] = [:]
    var connects: [PeerID: Connect] = [:]
    var channels: [ChannelID: LinkID] = [:]
    var delayed = DelayQueue<Held<Message>>()
    /// The operations of repeated commands, whose responses are dropped.
    var repeats: Set<OperationID> = []
    private var lastRepeat = OperationID(rawValue: .max)

    init(_ plan: FaultPlan, manager: Int, start: Duration) {
        matcher = FaultMatcher(plan, manager: manager, start: start)
    }

    mutating func dropAll() {
        links = [:]
        connects = [:]
        channels = [:]
        repeats = []
        delayed.dropAll()
    }

    // MARK: Commands

    mutating func command(_ command: CentralCommand, now: Duration) -> [Action] {
        if let link = command.link, links[link]?.lostBy != nil { return [] }
        let peer = command.peer ?? command.link.flatMap { links[$0]?.peer }
        let effect = matcher.decide(
            .init(
                kind: .centralCommand(command.kind),
                characteristic: characteristic(command.attribute, on: command.link), peer: peer),
            now: now)
        let subject = subject(link: command.link, channel: command.channel, peer: command.peer)
        return admit(.command(command), effect, of: subject, now: now)
    }

    mutating func apply(_ effect: FaultEffect?, to message: Message, now: Duration) -> [Action] {
        switch message {
        case .command(let command): apply(effect, to: command, now: now)
        case .event(let event): apply(effect, to: event, now: now)
        }
    }

    private mutating func apply(_ effect: FaultEffect?, to command: CentralCommand, now: Duration) -> [Action] {
        switch effect {
        case nil, .delay: return pass(command)
        case .drop: return []
        case .error(let error): return fail(command, error, now: now)
        case .corrupt: return pass(command.corrupted(by: matcher.randomForCorruption()))
        case .duplicate:
            guard command.operation != nil else { return pass(command) + pass(command) }
            lastRepeat = OperationID(rawValue: lastRepeat.rawValue - 1)
            repeats.insert(lastRepeat)
            return pass(command) + [.pass(.command(command.repeated(as: lastRepeat)))]
        case .disconnect(let reason): return command.link.map { lose($0, reason) } ?? []
        }
    }

    private mutating func pass(_ command: CentralCommand) -> [Action] {
        switch command {
        case .connect(let peer, let operation, let options):
            connects[peer] = Connect(operation: operation, options: options)
        case .disconnect(let peer):
            connects[peer] = nil
            for (id, link) in links where link.peer == peer && link.lostBy != nil { links[id]?.lostBy = .local }
        default:
            guard let link = command.link, let operation = command.operation else { break }
            links[link]?.order.append(operation)
            links[link]?.subjects[operation] = command.attribute
        }
        return [.pass(.command(command))]
    }

    private mutating func fail(_ command: CentralCommand, _ error: BackendError, now: Duration) -> [Action] {
        if case .connect(let peer, let operation, _) = command {
            return emit(.connectFailed(peer: peer, operation: operation, error: error), now: now)
        }
        guard let link = command.link, let operation = command.operation else { return [] }
        let answer = CentralEvent.response(link: link, operation: operation, .failure(error))
        links[link]?.order.append(operation)
        let ready = links[link]?.order.respond(to: operation, with: answer) ?? []
        return ready.flatMap { emit($0, now: now) }
    }

    /// Ends a link by a request to the backend, whose event gets the plan's reason.
    mutating func lose(_ id: LinkID, _ reason: DisconnectReason) -> [Action] {
        guard let link = links[id], link.lostBy == nil else { return [] }
        links[id]?.lostBy = reason
        delayed.drop(HoldLine(isOfCommands: true, subject: .link(id)))
        delayed.drop(HoldLine(isOfCommands: false, subject: .link(id)))
        return [.pass(.command(.disconnect(peer: link.peer)))]
    }

    // MARK: Subjects

    func characteristic(_ attribute: AttributeID?, on link: LinkID?) -> BluetoothUUID? {
        guard let attribute, let link else { return nil }
        return links[link]?.attributes[attribute]?.record.characteristic?.uuid
    }

    func subject(link: LinkID?, channel: ChannelID?, peer: PeerID?) -> HoldLine.Subject {
        if let link = link ?? channel.flatMap({ channels[$0] }) { return .link(link) }
        if let channel { return .channel(channel) }
        return peer.map { .peer($0) } ?? .manager
    }
}
