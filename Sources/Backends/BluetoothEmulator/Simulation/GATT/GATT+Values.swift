import BluetoothBackend
import BluetoothSupport
import BluetoothValues
import DequeModule

// The values and events that servers send on their own initiative, and their receivers.
extension GATT {
    // MARK: Sending

    /// Appends an item to the device's queue.
    mutating func send(
        _ item: LinkServer.Outgoing, on ref: Ref<Link>, _ link: Link, _ lower: inout LowerLayers
    ) -> Demand? {
        var item = item
        if case .value(let attribute, _, _, let sender) = item,
            let fault = lower.air.devices[link.device]?.takeFault(.notify, attribute, at: link.device, &lower.context)
        {
            switch fault {
            case .fail:
                lower.context.log("value lost by a fault")
                if let sender { returnCredits(to: [sender], on: ref, link, &lower) }
                return nil
            case .delay(let time): item = .held(item, until: lower.context.now + max(0, time.nanoseconds))
            case .pause: item = .held(item, until: nil)
            case .disconnect: return .disconnection
            case .loseAnswer: item = .last(item)
            case .corrupt: item = item.corrupted(by: lower.context.random.faults.next(), mtu: link.mtu)
            case .delayAnswer: break  // applies to requests only
            }
        }
        guard self[ref]?.server.append(item) == true else { return nil }
        let event = link.timing.connectionEvent(from: lower.context.now + link.timing.delays.notification)
        lower.schedule(.peerTransmit(ref), on: ref, link, at: event)
        return nil
    }

    /// Notifies or indicates a value on one link, truncated to a packet, if the link's central subscribes.
    mutating func notify(
        _ value: Data, _ attribute: AttributeID, sender: Ref<Manager>? = nil, on ref: Ref<Link>,
        _ lower: inout LowerLayers
    ) -> Demand? {
        guard let kind = self[ref]?.server.subscriptions[attribute], let link = lower.links[ref] else { return nil }
        let item = LinkServer.Outgoing.value(
            attribute, value.prefix(ATTLimits.written(mtu: link.mtu)), needsConfirmation: kind == .indications,
            sender: sender)
        return send(item, on: ref, link, &lower)
    }

    /// Sends the device's notifications, as many as a connection event carries; an indication waits for the
    /// confirmation of the previous one.
    mutating func sendOutgoing(_ ref: Ref<Link>, _ lower: inout LowerLayers) {
        guard var room = beginTransmission(.peerTransmit(ref), by: .peripheral, on: ref, &lower),
            let link = lower.links[ref]
        else { return }
        self[ref]?.server.isSending = false
        var mustWait = false
        var senders: [Ref<Manager>] = []
        var readiness = LinkServer.Readiness.ready
        while !mustWait {
            readiness = self[ref]?.server.prepareOutgoing(at: lower.context.now) ?? .ready
            guard case .ready = readiness, let next = sendFirstOutgoing(on: ref, &room, &lower.links) else { break }
            mustWait = deliver(next, on: ref, link, &lower)
            if case .value(_, _, _, let sender?) = next { senders.append(sender) }
        }
        if !senders.isEmpty { returnCredits(to: senders, on: ref, link, &lower) }
        guard let isIdle = self[ref]?.server.outgoing.isEmpty, !isIdle || mustWait else { return }
        self[ref]?.server.isSending = true
        switch readiness {
        case .ready:
            lower.schedule(.peerTransmit(ref), on: ref, link, at: lower.context.now + link.timing.interval)
        case .at(let due): lower.context.queue.schedule(.peerTransmit(ref), at: link.timing.connectionEvent(from: due))
        case .stalled: break
        }
    }

    /// Sends the head of the device's queue.
    ///
    /// - Returns: The item; nil if the queue is empty, or the connection event has no room for all of it.
    private mutating func sendFirstOutgoing(
        on ref: Ref<Link>, _ room: inout Room, _ links: inout LinkLayer
    ) -> LinkServer.Outgoing? {
        if let left = room.packets {
            room.packets = left - 1
            guard left > 0 else { return nil }
        } else {
            guard let (length, offset) = self[ref]?.server.firstLength else { return nil }
            let sent = links.sendATT(length, from: offset, by: .peripheral, on: ref)
            if offset != sent ?? 0 { self[ref]?.server.bytesSent = sent ?? 0 }
            guard sent == nil else { return nil }
        }
        return self[ref]?.server.outgoing.popFirst()
    }

    /// Delivers a value or a Service Changed of the device.
    ///
    /// - Returns: Whether the item waits for a confirmation.
    mutating func deliver(
        _ item: LinkServer.Outgoing, on ref: Ref<Link>, _ link: Link, _ lower: inout LowerLayers
    ) -> Bool {
        if lower.context.tapped.contains(.att) { reportDelivery(of: item, on: ref, link, &lower) }
        switch item {
        case .value(let attribute, let value, let needsConfirmation, _):
            for (manager, id) in lower.hosts[link.host].ledger.subscribers(of: attribute, at: link.peer) {
                lower.context.emit(
                    .valueNotified(link: id, attribute: attribute, value: value), to: Ref(packed: manager))
            }
            return needsConfirmation
        case .servicesChanged(let removed, let added):
            self[ref]?.client.cache = nil
            lower.hosts.emit(toLeasesOf: link.peer, on: link.host, &lower.context) {
                .servicesChanged(link: $0, removed: removed, added: added)
            }
            return true
        case .held(let content, _): return deliver(content, on: ref, link, &lower)
        case .last(let content):
            _ = deliver(content, on: ref, link, &lower)
            lower.links.fallSilent(ref, isLost: true, &lower.context)
            return true
        }
    }

    /// Delivers a value before all that waits; a host without a subscriber drops it.
    mutating func notifyAtOnce(
        _ value: Data, _ path: CharacteristicPath, of device: Ref<Device>, _ lower: inout LowerLayers
    ) {
        guard let id = lower.air.devices[device]?.server.store(value, of: path) else { return }
        for ref in lower.air.links(of: device) {
            guard let link = lower.links[ref], !link.supervision.isSilent else { continue }
            if lower.hosts[link.host].ledger.subscribers(of: id, at: link.peer).isEmpty {
                lower.context.log("notification of \(path.uuid) dropped: no app subscribes to it")
            }
            let part = value.prefix(ATTLimits.written(mtu: link.mtu))
            _ = deliver(.value(id, part, needsConfirmation: false, sender: nil), on: ref, link, &lower)
        }
    }

    /// Makes the operations and values due that faults pause.
    mutating func resume(_ ref: Ref<Link>, at now: Nanoseconds) {
        self[ref]?.client.deferred.resume(at: now)
        self[ref]?.server.resume()
    }

    /// Resumes the device's queue if nothing holds up its head.
    mutating func unstall(_ ref: Ref<Link>, _ lower: inout LowerLayers) {
        guard self[ref]?.server.unstall() == true, let link = lower.links[ref] else { return }
        lower.context.queue.schedule(
            .peerTransmit(ref), at: link.timing.connectionEvent(from: lower.context.now))
    }

    // MARK: Subscriptions

    /// Delivers a subscription to the manager; the first one of a central grants credits.
    mutating func reportSubscribed(_ attribute: AttributeID, on ref: Ref<Link>, _ lower: inout LowerLayers) {
        guard let link = lower.links[ref], let central = link.central,
            let owner = owner(of: attribute, on: link, &lower)
        else { return }
        let credits = max(1, lower.context.configuration.notifyBuffer)
        let isFirst = self[ref]?.server.grantCredits(credits, to: owner.manager) == true
        lower.context.emit(
            PeripheralEvent.subscribed(
                central: central, attribute: owner.local, mtu: link.mtu, notifyCredits: isFirst ? credits : 0),
            to: owner.manager)
    }

    /// Delivers the end of a subscription to the manager.
    ///
    /// Queued values are dropped.
    mutating func reportUnsubscribed(_ attribute: AttributeID, on ref: Ref<Link>, _ lower: inout LowerLayers) {
        guard let link = lower.links[ref], let central = link.central,
            let owner = owner(of: attribute, on: link, &lower)
        else { return }
        lower.context.emit(PeripheralEvent.unsubscribed(central: central, attribute: owner.local), to: owner.manager)
        let dropped = self[ref]?.server.dropOutgoing(of: attribute) ?? []
        revokeCredits(of: owner.manager, on: ref, &lower)
        if !dropped.isEmpty { returnCredits(to: dropped, on: ref, link, &lower) }
        unstall(ref, &lower)
    }

    /// Revokes the credits of a central after its last subscription to a manager.
    mutating func revokeCredits(of manager: Ref<Manager>, on ref: Ref<Link>, _ lower: inout LowerLayers) {
        guard let link = lower.links[ref], let subscriptions = self[ref]?.server.subscriptions else { return }
        let isLeft = subscriptions.keys.contains { owner(of: $0, on: link, &lower)?.manager == manager }
        if !isLeft { self[ref]?.server.notifyCredits[manager] = nil }
    }

    /// Handles a disconnected central: its open request and its subscriptions end, unless the host's state implies
    /// that.
    mutating func reportCentralLeft(_ ref: Ref<Link>, _ link: Link, _ lower: inout LowerLayers) {
        guard let server = link.server else { return }
        if lower.hosts[server.host].adapter.isOn {
            expireRequest(on: ref, &lower.context)
            for attribute in self[ref]?.server.subscriptions.keys.sorted() ?? [] {
                self[ref]?.server.subscriptions[attribute] = nil
                reportUnsubscribed(attribute, on: ref, &lower)
            }
        }
        self[ref]?.server.notifyCredits = [:]
        self[ref]?.server.outgoing = []
    }

    /// Sends a manager's value to a subscriber, for one credit.
    ///
    /// - Parameter centrals: The centrals that the manager named; it gets its credit back for one that has unsubscribed
    ///   in the meantime.
    mutating func update(
        _ attribute: AttributeID, _ value: Data, of manager: Ref<Manager>, to centrals: [PeerID]?, on ref: Ref<Link>,
        _ lower: inout LowerLayers
    ) -> Demand? {
        guard let link = lower.links[ref], let central = link.central, centrals?.contains(central) ?? true else {
            return nil
        }
        guard self[ref]?.server.subscriptions[attribute] != nil else {
            if centrals != nil, self[ref]?.server.notifyCredits[manager] != nil {
                lower.context.emit(PeripheralEvent.notifyCredits(central: central, count: 1), to: manager)
            }
            return nil
        }
        guard self[ref]?.server.spendCredit(of: manager) == true else {
            lower.context.log("value without credit dropped")
            return nil
        }
        return notify(value, attribute, sender: manager, on: ref, &lower)
    }

    /// Returns the credits of sent values to their managers.
    private mutating func returnCredits(
        to senders: [Ref<Manager>], on ref: Ref<Link>, _ link: Link, _ lower: inout LowerLayers
    ) {
        guard let central = link.central else { return }
        var notified: Set<Ref<Manager>> = []
        for sender in senders where notified.insert(sender).inserted {
            let count = senders.count { $0 == sender }
            guard self[ref]?.server.returnCredits(count, to: sender) == true else { continue }
            lower.context.emit(PeripheralEvent.notifyCredits(central: central, count: count), to: sender)
        }
    }

    /// Changes the MTU of a link, for the managers of both sides.
    mutating func setMTU(_ mtu: Int, on ref: Ref<Link>, _ lower: inout LowerLayers) {
        guard let link = lower.links[ref], link.mtu != mtu else { return }
        lower.links[ref]?.mtu = mtu
        lower.context.report(.mtuChanged(link: ref.serial, mtu: mtu))
        if let central = link.central {
            for manager in self[ref]?.server.notifyCredits.keys.sorted() ?? [] {
                lower.context.emit(PeripheralEvent.mtuChanged(central: central, mtu: mtu), to: manager)
            }
        }
        lower.hosts.emit(toLeasesOf: link.peer, on: link.host, &lower.context) { .mtuChanged(link: $0, mtu: mtu) }
    }
}
