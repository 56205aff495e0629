import BluetoothBackend

// The kinds of the items that wait for a manager's queue.

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
        if case .event(.disconnected(let link, _, _, _, _)) = self { link } else { nil }
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

/// Merges the events of the central role that wait for a slow queue.
enum CentralEventMerging {
    /// A property whose last value alone matters.
    private enum Property: Hashable {
        case name(PeerID)
        case connection(PeerID)
        case ancsAuthorization(PeerID)
        case mtu(LinkID)
    }

    /// Merges events that report changes.
    ///
    /// - The last name, ATT MTU, authorization and connection event of each device stay.
    /// - A link that began and ended in the meantime, with another attempt after it, is removed with all of its events.
    /// - Changes of a device's services are one, unless a discovery was answered between them.
    static func merged(_ events: [CentralEvent]) -> [CentralEvent?] {
        var left: [CentralEvent?] = events
        var properties: [Property: Int] = [:]
        var services: [LinkID: Int] = [:]
        /// The events of links that began in the meantime.
        var began: [LinkID: [Int]] = [:]
        for (index, event) in events.enumerated() {
            if let property = property(of: event), let old = properties.updateValue(index, forKey: property) {
                left[old] = nil
            }
            if case .connected(_, let link, _, _) = event { began[link] = [] }
            if let link = event.link { began[link]?.append(index) }
            switch event {
            case .disconnected(let link, _, _, isReconnecting: true, _):
                for void in began.removeValue(forKey: link) ?? [] { left[void] = nil }
            case .response(let link, _, .services):
                services[link] = nil
            case .servicesChanged(let link, let removed, let added):
                if let old = services.updateValue(index, forKey: link),
                    case .servicesChanged(_, let removedBefore, let addedBefore)? = left[old]
                {
                    let known = Set(addedBefore.map(\.id))
                    let gone = Set(removed)
                    left[old] = nil
                    left[index] = .servicesChanged(
                        link: link, removed: removedBefore + removed.filter { !known.contains($0) },
                        added: addedBefore.filter { !gone.contains($0.id) } + added)
                }
            default: break
            }
        }
        return left
    }

    private static func property(of event: CentralEvent) -> Property? {
        switch event {
        case .nameChanged(let peer, _, _): .name(peer)
        case .connectionEvent(let peer, _): .connection(peer)
        case .ancsAuthorizationChanged(let peer, _): .ancsAuthorization(peer)
        case .mtuChanged(let link, _): .mtu(link)
        default: nil
        }
    }
}

/// Merges the events of the peripheral role that wait for a slow queue.
enum PeripheralEventMerging {
    /// Merges events that report changes.
    ///
    /// - A request that the backend has since answered is removed, and so is a channel that its central has closed.
    /// - A central that came and left in the meantime is removed. Of any other, at most the first and the last change
    ///   of each subscription stay: see ``subscriptions(of:_:)``.
    /// - The last ATT MTU of each central stays, unless a subscription after it has a newer one.
    static func merged(_ events: [PeripheralEvent]) -> [PeripheralEvent?] {
        var left: [PeripheralEvent?] = events
        var requests: [RequestID: Int] = [:]
        var channels: [ChannelID: Int] = [:]
        var mtus: [PeerID: Int] = [:]
        var subscriptions: [PeerID: [Int]] = [:]
        func drop(_ old: Int?) { if let old { left[old] = nil } }
        for (index, event) in events.enumerated() {
            switch event {
            case .readRequested(let request, _, _, _, _), .writeRequested(let request, _, _, _, _):
                requests[request] = index
            case .requestExpired(let request):
                guard let asked = requests.removeValue(forKey: request) else { continue }
                (left[asked], left[index]) = (nil, nil)
            case .channelOpened(let channel, _, _, _): channels[channel] = index
            case .channel(let channel, .closed):
                drop(channels.removeValue(forKey: channel))
                left[index] = nil
            case .mtuChanged(let central, _): drop(mtus.updateValue(index, forKey: central))
            case .subscribed(let central, _, _, _):
                drop(mtus.removeValue(forKey: central))
                subscriptions[central, default: []].append(index)
            case .unsubscribed(let central, _): subscriptions[central, default: []].append(index)
            default: break
            }
        }
        for indices in subscriptions.values {
            let kept = Self.subscriptions(of: indices, events)
            for index in indices where !kept.contains(index) { left[index] = nil }
        }
        return left
    }

    /// Returns the changes of one central's subscriptions that stay.
    ///
    /// The credits of a central end with its last subscription. So each subscription that was on at some time stays on
    /// at that time, since otherwise the last one would seem to end; and the last event that grants credits stays,
    /// since the backend counts from there.
    private static func subscriptions(of indices: [Int], _ events: [PeripheralEvent]) -> Set<Int> {
        struct Changes {
            var firstOn: Int?
            var lastOn: Int?
            var lastOff: Int?
            var beginsOn = false
            var endsOn = false
        }
        var attributes: [AttributeID: Changes] = [:]
        var lastGrant: Int?
        var isNew: Bool?
        for index in indices {
            switch events[index] {
            case .subscribed(_, let attribute, _, let credits):
                if isNew == nil { isNew = credits > 0 }
                if credits > 0 { lastGrant = index }
                var changes = attributes[attribute] ?? Changes(beginsOn: false)
                if changes.firstOn == nil { changes.firstOn = index }
                changes.lastOn = index
                changes.endsOn = true
                attributes[attribute] = changes
            case .unsubscribed(_, let attribute):
                if isNew == nil { isNew = false }
                var changes = attributes[attribute] ?? Changes(beginsOn: true)
                changes.lastOff = index
                changes.endsOn = false
                attributes[attribute] = changes
            default: break
            }
        }
        // It had no subscription before, and has none now.
        if isNew == true, attributes.values.allSatisfy({ !$0.endsOn }) { return [] }
        var kept = Set(lastGrant.map { [$0] } ?? [])
        for changes in attributes.values {
            let on = changes.beginsOn ? (changes.endsOn ? changes.lastOn : nil) : changes.firstOn
            let off = changes.beginsOn || !changes.endsOn ? changes.lastOff : nil
            kept.formUnion([on, off].compactMap { $0 })
        }
        return kept
    }
}

/// Merges the events of pairing that wait for a slow queue.
enum PairingEventMerging {
    /// Merges events that others cause.
    ///
    /// A question that has since been cancelled is removed. Of pairings that the app did not request, the last result
    /// of each device stays. A question is removed once its pairing has a result.
    static func merged(_ events: [PairingEvent]) -> [PairingEvent?] {
        var left: [PairingEvent?] = events
        var questions: [PairingRequestID: Int] = [:]
        var questionsOfPeers: [PeerID: [Int]] = [:]
        var results: [PeerID: Int] = [:]
        for (index, event) in events.enumerated() {
            switch event {
            case .requested(let request, let peer, _):
                questions[request] = index
                questionsOfPeers[peer, default: []].append(index)
            case .cancelled(let request):
                guard let asked = questions.removeValue(forKey: request) else { continue }
                (left[asked], left[index]) = (nil, nil)
            case .paired(let peer, let operation, _), .pairingFailed(let peer, let operation, _),
                .unpaired(let peer, let operation):
                for asked in questionsOfPeers.removeValue(forKey: peer) ?? [] { left[asked] = nil }
                guard operation == nil, let old = results.updateValue(index, forKey: peer) else { continue }
                left[old] = nil
            }
        }
        return left
    }
}
