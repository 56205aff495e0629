import BluetoothBackend

// What may become of what waits for a manager's queue.

extension CentralCore.Delivery: BacklogElement {
    var backlogKind: BacklogKind {
        switch self {
        case .event(.valueNotified(let link, _, _)): .value(from: .link(link))
        case .event(.discovered(let discovery)): .report(of: discovery.peer)
        default: .kept
        }
    }

    var endedLink: LinkID? {
        if case .event(.disconnected(let link, _, _, _)) = self { link } else { nil }
    }

    static func end(_ link: LinkID) -> Self? { .overflow(link) }
}

extension PeripheralCore.Delivery: BacklogElement {
    var backlogKind: BacklogKind {
        switch self {
        // A request with a response is the only one of its link until the app has answered.
        // Source: Core Specification, Vol 3, Part F, 3.3.2.
        case .event(.writeRequested(_, let central, _, wantsResponse: false, _)): .value(from: .central(central))
        default: .kept
        }
    }
}

// Pairing is one question at a time.
extension PairingEvent: BacklogElement {}
