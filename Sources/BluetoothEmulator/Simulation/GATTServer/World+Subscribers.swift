import BluetoothBackend
import BluetoothSupport
import DequeModule

// The centrals of a host's peripheral managers: who subscribes, what is sent, how it leaves.
extension World {
    /// A manager hears of a subscription; the first of a central brings the credits of both.
    mutating func tellSubscribed(_ attribute: AttributeID, on ref: Ref<Link>) {
        guard let link = links[ref], let central = link.central,
            let owner = devices[link.device]?.database[attribute]?.owner
        else { return }
        let isFirst = link.notifyCredits[owner.manager] == nil
        let credits = max(1, configuration.notifyBuffer)
        if isFirst { links[ref]?.notifyCredits[owner.manager] = credits }
        emit(
            PeripheralEvent.subscribed(
                central: central, attribute: owner.local, mtu: link.mtu, notifyCredits: isFirst ? credits : 0),
            to: owner.manager)
    }

    /// A manager hears of the end of a subscription.
    ///
    /// What waited for transmission is gone.
    mutating func tellUnsubscribed(_ attribute: AttributeID, on ref: Ref<Link>) {
        guard let link = links[ref], let central = link.central,
            let owner = devices[link.device]?.database[attribute]?.owner
        else { return }
        emit(PeripheralEvent.unsubscribed(central: central, attribute: owner.local), to: owner.manager)
        var dropped: [Ref<Manager>] = []
        links[ref]?.outgoing.removeAll { item in
            guard case .value(attribute, _, _, let sender?) = item.content else { return false }
            dropped.append(sender)
            return true
        }
        settleCredits(of: owner.manager, on: ref)
        if !dropped.isEmpty { returnNotifyCredits(to: dropped, on: ref) }
        unstall(ref)
    }

    /// The credits of a central end with its last subscription to a manager.
    mutating func settleCredits(of manager: Ref<Manager>, on ref: Ref<Link>) {
        guard let link = links[ref], let database = devices[link.device]?.database else { return }
        let isLeft = link.subscriptions.keys.contains { database[$0]?.owner?.manager == manager }
        if !isLeft { links[ref]?.notifyCredits[manager] = nil }
    }

    /// A central is gone: its open request and its subscriptions end, unless the state said so.
    mutating func tellCentralLeft(_ ref: Ref<Link>) {
        guard let link = links[ref], link.central != nil, let host = devices[link.device]?.host else { return }
        if hosts[host].isOn {
            expireRequest(on: ref)
            for attribute in link.subscriptions.keys.sorted() {
                links[ref]?.subscriptions[attribute] = nil
                tellUnsubscribed(attribute, on: ref)
            }
        }
        links[ref]?.notifyCredits = [:]
        links[ref]?.outgoing = []
    }

    /// Sends a value to subscribers, each for a credit.
    mutating func update(
        _ ref: Ref<Manager>, _ local: AttributeID, _ value: Data, _ centrals: [PeerID]?, _ server: Ref<Device>
    ) {
        guard let attribute = managers[ref]?.published[local] else { return }
        for link in devices[server]?.links ?? [] {
            guard let mtu = links[link]?.mtu, let central = links[link]?.central,
                centrals?.contains(central) ?? true
            else { continue }
            guard let kind = links[link]?.subscriptions[attribute] else {
                // The central has unsubscribed meanwhile; the credit that the manager spent comes back.
                if centrals != nil, links[link]?.notifyCredits[ref] != nil {
                    emit(PeripheralEvent.notifyCredits(central: central, count: 1), to: ref)
                }
                continue
            }
            guard let credits = links[link]?.notifyCredits[ref], credits > 0 else {
                trace.note("value without credit dropped", at: now)
                continue
            }
            links[link]?.notifyCredits[ref] = credits - 1
            send(
                .value(
                    attribute, value.prefix(mtu - 3), needsConfirmation: kind == .indications, sender: ref),
                on: link)
        }
    }

    /// Values left: their managers may send as many more.
    mutating func returnNotifyCredits(to senders: [Ref<Manager>], on ref: Ref<Link>) {
        guard let central = links[ref]?.central else { return }
        var told: Set<Ref<Manager>> = []
        for sender in senders where told.insert(sender).inserted {
            guard let credits = links[ref]?.notifyCredits[sender] else { continue }
            let count = senders.count { $0 == sender }
            links[ref]?.notifyCredits[sender] = credits + count
            emit(PeripheralEvent.notifyCredits(central: central, count: count), to: sender)
        }
    }

    /// The managers that a central subscribes to hear of its MTU.
    mutating func tellMTU(_ mtu: Int, on ref: Ref<Link>) {
        guard let link = links[ref], let central = link.central else { return }
        for manager in link.notifyCredits.keys.sorted() {
            emit(PeripheralEvent.mtuChanged(central: central, mtu: mtu), to: manager)
        }
    }

    // MARK: Connection interval

    /// The server asks for another interval: a quarter of the usual one, the usual one, or four times that.
    mutating func setLatency(_ latency: ConnectionLatency, _ central: PeerID, _ server: Ref<Device>) {
        guard let ref = devices[server]?.links.first(where: { links[$0]?.central == central }), let link = links[ref]
        else { return }
        let usual = configuration.connectionInterval.nanoseconds
        let wanted: Nanoseconds =
            switch latency {
            case .low: usual / 4
            case .medium: usual
            case .high: usual * 4
            }
        // The radio's range, where there is latency at all.
        let interval = usual == 0 ? 0 : min(4_000_000_000, max(7_500_000, wanted))
        guard interval != link.interval else { return }
        update(
            ConnectionParameters(
                interval: .nanoseconds(interval), peripheralLatency: link.latency,
                supervisionTimeout: .nanoseconds(link.supervisionTimeout)), ref)
    }

    /// The device asks for other parameters of a link; a central grants them.
    ///
    /// They are in force after six connection events (Core Specification, Vol 6, Part B, 5.1.1).
    mutating func update(_ parameters: ConnectionParameters, _ ref: Ref<Link>) {
        guard let link = links[ref] else { return }
        links[ref]?.wanted = parameters
        queue.schedule(.changeParameters(ref), at: link.connectionEvent(from: now) + 6 * link.interval)
    }

    mutating func changeParameters(of ref: Ref<Link>) {
        guard !isMissed(.changeParameters(ref), on: ref), let parameters = links[ref]?.wanted else { return }
        let present = now
        links[ref]?.wanted = nil
        links[ref]?.interval = parameters.interval.nanoseconds
        links[ref]?.latency = parameters.peripheralLatency
        links[ref]?.supervisionTimeout = parameters.supervisionTimeout.nanoseconds
        links[ref]?.anchor = present
        shareParameters(of: ref)
    }
}
