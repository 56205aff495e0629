import BluetoothBackend

extension CentralFaults {
    mutating func event(_ event: CentralEvent, now: Duration) -> [Action] {
        if case .stateChanged(let state) = event {
            if state != .poweredOn { dropAll() }
            return [.pass(.event(event))]
        }
        if let operation = event.operation, repeats.remove(operation) != nil { return [] }
        learn(event)
        guard let link = event.link, let reason = links[link]?.lostBy else { return admit(event, now: now) }
        // After a fault has ended a link, only its end is reported.
        if case .disconnected(_, _, let date, _, _) = event {
            let wantsBack = reason != .local && pendingConnect(for: link)?.options.autoReconnect == true
            return emit(.disconnected(link: link, reason: reason, at: date, isReconnecting: wantsBack), now: now)
        }
        return []
    }

    /// Delivers an event with the effect of a fault; events that the plan created have no effect.
    mutating func emit(_ event: CentralEvent, _ effect: FaultEffect? = nil, now: Duration) -> [Action] {
        let subject = subject(link: event.link, channel: event.channel, peer: event.peer)
        return admit(.event(event), effect, of: subject, now: now)
    }

    private mutating func admit(_ event: CentralEvent, now: Duration) -> [Action] {
        let link = event.link.flatMap { links[$0] }
        let effect = matcher.decide(
            .init(
                kind: .centralEvent(event.kind),
                characteristic: characteristic(attribute(of: event), on: event.link), peer: event.peer ?? link?.peer),
            now: now)
        return emit(event, effect, now: now)
    }

    mutating func apply(_ effect: FaultEffect?, to event: CentralEvent, now: Duration) -> [Action] {
        switch effect {
        case nil, .delay: return deliver(event, now: now)
        case .drop: return follow(event, now: now)
        case .error(let error):
            guard let link = event.link, let operation = event.operation else { return [] }
            return [.pass(.event(.response(link: link, operation: operation, .failure(error))))]
                + follow(event, now: now)
        case .corrupt: return deliver(event.corrupted(by: matcher.randomForCorruption()), now: now)
        case .duplicate: return [.pass(.event(event))] + deliver(event, now: now)
        case .disconnect(let reason):
            guard let link = event.link else { return [] }
            if event.kind == .connected { return deliver(event, now: now) + lose(link, reason) }
            return lose(link, reason)
        }
    }

    private mutating func deliver(_ event: CentralEvent, now: Duration) -> [Action] {
        [.pass(.event(event))] + follow(event, now: now)
    }

    /// The consequences of an event that was delivered or dropped.
    private mutating func follow(_ event: CentralEvent, now: Duration) -> [Action] {
        switch event {
        case .disconnected(let link, _, _, let isReconnecting, _): return close(link, isReconnecting: isReconnecting)
        case .connectFailed(let peer, _, _): connects[peer] = nil
        default: break
        }
        guard let link = event.link, let operation = event.operation else { return [] }
        links[link]?.subjects[operation] = nil
        let ready = links[link]?.order.remove(operation) ?? []
        return ready.flatMap { emit($0, now: now) }
    }

    private mutating func close(_ id: LinkID, isReconnecting: Bool) -> [Action] {
        let connect = pendingConnect(for: id)
        guard let link = links.removeValue(forKey: id) else { return [] }
        delayed.drop(HoldLine(isOfCommands: true, subject: .link(id)))
        channels = channels.filter { $0.value != id }
        guard isReconnecting else {
            connects[link.peer] = nil
            return []
        }
        // The backend ended the link on request, so it does not reconnect by itself.
        guard link.lostBy != nil, let connect else { return [] }
        return [.pass(.command(.connect(peer: link.peer, operation: connect.operation, options: connect.options)))]
    }

    private func pendingConnect(for link: LinkID) -> Connect? {
        links[link].flatMap { connects[$0.peer] }
    }

    // MARK: Learning

    private mutating func learn(_ event: CentralEvent) {
        switch event {
        case .connected(let peer, let link, _, _): links[link] = Link(peer: peer)
        case .response(let link, _, .channel(let channel, _)): channels[channel] = link
        case .response(let link, let operation, let response):
            let subject = links[link]?.subjects[operation]
            links[link]?.attributes.apply(response, of: subject)
        case .restored(let state):
            for peer in state.peers { restore(peer) }
        default: break
        }
    }

    private mutating func restore(_ peer: RestoredCentralState.Peer) {
        connects[peer.summary.id] = Connect(operation: peer.operation, options: ConnectOptions())
        guard let id = peer.link else { return }
        var link = Link(peer: peer.summary.id)
        link.attributes.apply(peer.services)
        links[id] = link
    }

    private func attribute(of event: CentralEvent) -> AttributeID? {
        switch event {
        case .valueNotified(_, let attribute, _), .subscriptionEnded(_, let attribute, _): return attribute
        default:
            guard let link = event.link, let operation = event.operation else { return nil }
            return links[link]?.subjects[operation]
        }
    }
}
