import BluetoothBackend

// What may become of what waits for a manager's queue.

extension CentralCore.Delivery: BacklogElement {
    var backlogKind: BacklogKind {
        switch self {
        case .event(.valueNotified(let link, _, _)): .value(from: .link(link))
        case .event(.discovered(let discovery)): .report(of: discovery.peer)
        case .event(.nameChanged), .event(.connectionEvent): .change(mayBeLost: true)
        case .event(.connected), .event(.disconnected), .event(.mtuChanged), .event(.writeCredits),
            .event(.servicesChanged), .event(.response(_, _, .services)), .event(.ancsAuthorizationChanged):
            .change(mayBeLost: false)
        default: .kept
        }
    }

    var endedLink: LinkID? {
        if case .event(.disconnected(let link, _, _, _)) = self { link } else { nil }
    }

    static func end(_ link: LinkID) -> Self? { .overflow(link) }

    static func merged(_ changes: [Self]) -> [Self?] {
        let events = changes.compactMap { if case .event(let event) = $0 { event } else { nil } }
        return CentralEventMerging.merged(events).map { $0.map { .event($0) } }
    }
}

extension PeripheralCore.Delivery: BacklogElement {
    var backlogKind: BacklogKind {
        switch self {
        // A request with a response is the only one of its link until the app has answered.
        // Source: Core Specification, Vol 3, Part F, 3.3.2.
        case .event(.writeRequested(_, let central, _, wantsResponse: false, _)): .value(from: .central(central))
        case .event(.mtuChanged): .change(mayBeLost: true)
        case .event(.subscribed), .event(.unsubscribed), .event(.readRequested), .event(.writeRequested),
            .event(.requestExpired), .event(.channelOpened), .event(.channel(_, .closed)):
            .change(mayBeLost: false)
        default: .kept
        }
    }

    static func merged(_ changes: [Self]) -> [Self?] {
        let events = changes.compactMap { if case .event(let event) = $0 { event } else { nil } }
        return PeripheralEventMerging.merged(events).map { $0.map { .event($0) } }
    }
}

extension PairingEvent: BacklogElement {
    var backlogKind: BacklogKind {
        switch self {
        case .paired(_, nil, _), .pairingFailed(_, nil, _), .unpaired(_, nil): .change(mayBeLost: true)
        default: .change(mayBeLost: false)
        }
    }

    static func merged(_ changes: [Self]) -> [Self?] { PairingEventMerging.merged(changes) }
}
