import BluetoothBackend
import BluetoothSupport
import BluetoothValues
import DequeModule

// The centrals of a host's peripheral managers: their subscriptions, and the values sent to them.
extension World {
    /// Delivers a subscription to the manager; the first one of a central grants credits.
    mutating func reportSubscribed(_ attribute: AttributeID, on ref: Ref<Link>) {
        guard let link = links[ref], let central = link.server.central,
            let owner = air.devices[link.device]?.server.database[attribute]?.owner
        else { return }
        let isFirst = link.server.notifyCredits[owner.manager] == nil
        let credits = max(1, context.configuration.notifyBuffer)
        if isFirst { links[ref]?.server.notifyCredits[owner.manager] = credits }
        context.emit(
            PeripheralEvent.subscribed(
                central: central, attribute: owner.local, mtu: link.mtu, notifyCredits: isFirst ? credits : 0),
            to: owner.manager)
    }

    /// Delivers the end of a subscription to the manager.
    ///
    /// Queued values are dropped.
    mutating func reportUnsubscribed(_ attribute: AttributeID, on ref: Ref<Link>) {
        guard let link = links[ref], let central = link.server.central,
            let owner = air.devices[link.device]?.server.database[attribute]?.owner
        else { return }
        context.emit(PeripheralEvent.unsubscribed(central: central, attribute: owner.local), to: owner.manager)
        let dropped = links[ref]?.server.dropOutgoing(of: attribute) ?? []
        revokeCredits(of: owner.manager, on: ref)
        if !dropped.isEmpty { returnNotifyCredits(to: dropped, on: ref) }
        unstall(ref)
    }

    /// Revokes the credits of a central after its last subscription to a manager.
    mutating func revokeCredits(of manager: Ref<Manager>, on ref: Ref<Link>) {
        guard let link = links[ref], let database = air.devices[link.device]?.server.database else { return }
        let isLeft = link.server.subscriptions.keys.contains { database[$0]?.owner?.manager == manager }
        if !isLeft { links[ref]?.server.notifyCredits[manager] = nil }
    }

    /// Handles a disconnected central: its open request and its subscriptions end, unless the host's state implies
    /// that.
    mutating func reportCentralLeft(_ ref: Ref<Link>) {
        guard let link = links[ref], link.server.central != nil, let host = air.devices[link.device]?.host else {
            return
        }
        if hosts[host].adapter.isOn {
            expireRequest(on: ref)
            for attribute in link.server.subscriptions.keys.sorted() {
                links[ref]?.server.subscriptions[attribute] = nil
                reportUnsubscribed(attribute, on: ref)
            }
        }
        links[ref]?.server.notifyCredits = [:]
        links[ref]?.server.outgoing = []
    }

    /// Sends a value to subscribers, for one credit each.
    mutating func update(
        _ ref: Ref<Manager>, _ local: AttributeID, _ value: Data, _ centrals: [PeerID]?, _ server: Ref<Device>
    ) {
        guard let attribute = hosts.managers[ref]?.publication.attributes[local] else { return }
        for link in air.devices[server]?.links ?? [] {
            guard let mtu = links[link]?.mtu, let central = links[link]?.server.central,
                centrals?.contains(central) ?? true
            else { continue }
            guard let kind = links[link]?.server.subscriptions[attribute] else {
                // The central has unsubscribed in the meantime; the manager's credit is returned.
                if centrals != nil, links[link]?.server.notifyCredits[ref] != nil {
                    context.emit(PeripheralEvent.notifyCredits(central: central, count: 1), to: ref)
                }
                continue
            }
            guard let credits = links[link]?.server.notifyCredits[ref], credits > 0 else {
                context.log("value without credit dropped")
                continue
            }
            links[link]?.server.notifyCredits[ref] = credits - 1
            send(
                .value(
                    attribute, value.prefix(ATTLimits.written(mtu: mtu)), needsConfirmation: kind == .indications,
                    sender: ref),
                on: link)
        }
    }

    /// Returns the credits of sent values to their hosts.managers.
    mutating func returnNotifyCredits(to senders: [Ref<Manager>], on ref: Ref<Link>) {
        guard let central = links[ref]?.server.central else { return }
        var notified: Set<Ref<Manager>> = []
        for sender in senders where notified.insert(sender).inserted {
            guard let credits = links[ref]?.server.notifyCredits[sender] else { continue }
            let count = senders.count { $0 == sender }
            links[ref]?.server.notifyCredits[sender] = credits + count
            context.emit(PeripheralEvent.notifyCredits(central: central, count: count), to: sender)
        }
    }

    /// Delivers the MTU of a central to the managers that it subscribes to.
    mutating func reportMTU(_ mtu: Int, on ref: Ref<Link>) {
        guard let link = links[ref], let central = link.server.central else { return }
        for manager in link.server.notifyCredits.keys.sorted() {
            context.emit(PeripheralEvent.mtuChanged(central: central, mtu: mtu), to: manager)
        }
    }

    // MARK: Connection interval

    /// Requests another interval as the server: a quarter of the usual one, the usual one, or four times that.
    mutating func setLatency(_ latency: ConnectionLatency, _ central: PeerID, _ server: Ref<Device>) {
        guard let ref = air.devices[server]?.links.first(where: { links[$0]?.server.central == central }),
            let link = links[ref]
        else { return }
        let usual = context.configuration.connectionInterval.nanoseconds
        let wanted: Nanoseconds =
            switch latency {
            case .low: usual / 4
            case .medium: usual
            case .high: usual * 4
            }
        // The range of LE connection intervals; zero means no latency.
        let interval = usual == 0 ? 0 : min(4_000_000_000, max(7_500_000, wanted))
        guard interval != link.timing.interval else { return }
        let parameters = ConnectionParameters(
            interval: .nanoseconds(interval), peripheralLatency: link.timing.latency,
            supervisionTimeout: .nanoseconds(link.timing.supervisionTimeout))
        links.update(parameters, ref, &context)
    }
}
