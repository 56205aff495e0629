import BluetoothBackend
import BluetoothSupport

// The wiring of security: the links that pairings need or end, and the operations that need pairings.
extension World {
    /// The number under which a ledger registers a link that exists for pairing only.
    private var pairingApp: Ref<Manager> { Ref(slot: .max, serial: 1) }

    // MARK: Pairing

    /// Starts a pairing on a link: for a refused operation, for an app, or at the device's request.
    mutating func startPairing(
        _ ref: Ref<Link>, for operation: (LinkOperation, ATTCode)? = nil, asker: HostPairing.Asker? = nil
    ) {
        guard let link = lower.links[ref] else { return }
        let outcome = security.startPairing(
            ref, link, lower.air.devices[link.device], for: operation, asker: asker, &lower)
        pairingContinued(outcome, on: ref)
    }

    /// Does what follows from a step of a pairing.
    mutating func pairingContinued(_ outcome: Security.Outcome?, on ref: Ref<Link>) {
        switch outcome {
        case .succeeded(let operation)?:
            endPairingLink(ref)
            if let operation { gatt.retry(operation, on: ref, &lower) }
        case .failed(let refused)?:
            endPairingLink(ref)
            guard let (operation, code) = refused else { return }
            let error = BackendError.att(code.rawValue, operation: operation.kind.isRead ? "read" : "write")
            complete(operation, .failure(error), on: ref)
        case .disconnected?: terminate(ref, reason: .remote)
        case nil: break
        }
    }

    // MARK: Commands

    mutating func handle(_ command: PairingCommand, of ref: Ref<Manager>) {
        guard lower.hosts.managers.contains(ref) else { return }
        switch command {
        case .setCapability(let capability): lower.hosts.managers[ref]?.capability = capability
        case .answer(let request, let answer):
            guard let (link, outcome) = security.answer(request, answer, of: ref, &lower) else { return }
            pairingContinued(outcome, on: link)
        case .pair(let peer, let operation): pair(peer, operation, by: ref)
        case .unpair(let peer, let operation):
            for host in lower.hosts.represented(by: ref) {
                guard let address = security[host].bondAddress(of: peer) else { continue }
                return removeBond(address, on: host, asker: (ref, operation))
            }
            let error = BackendError(.unknownDevice, operation: "unpair")
            lower.context.emit(PairingEvent.pairingFailed(peer: peer, operation: operation, error: error), to: ref)
        }
    }

    private mutating func pair(_ peer: PeerID, _ operation: OperationID, by agent: Ref<Manager>) {
        let scope = lower.hosts.represented(by: agent)
        if let (ref, link) = lower.links.link(with: peer, in: scope, lower.air, lower.hosts) {
            guard link.security.refusal != nil else {
                let isBonded = scope.contains { security[$0].bondAddress(of: peer) != nil }
                return lower.context.emit(
                    PairingEvent.paired(peer: peer, operation: operation, isBonded: isBonded), to: agent)
            }
            return startPairing(ref, asker: (agent, operation))
        }
        guard let host = scope.first(where: { lower.hosts[$0].adapter.isOn && lower.hosts[$0].peers[peer] != nil })
        else {
            let error = BackendError(.unknownDevice, operation: "pair")
            return lower.context.emit(
                PairingEvent.pairingFailed(peer: peer, operation: operation, error: error), to: agent)
        }
        // The time for which an app's pairing waits for a link is that of Linux (`HCI_LE_CONN_TIMEOUT`).
        let timeout = lower.context.queue.scheduleCancellable(
            .pairingLinkTimeout(agent, operation, peer, host: host),
            at: lower.context.now + Duration.seconds(20).nanoseconds)
        security[host].request(peer, HostPairing.Request(asker: (agent, operation), timeout: timeout))
        connect(host, pairingApp, peer, OperationID(rawValue: 0), ConnectOptions())
    }

    /// Fails a requested pairing that found no link in time.
    mutating func pairingLinkTimedOut(_ asker: HostPairing.Asker, _ peer: PeerID, on host: Int) {
        guard security[host].expireRequest(for: peer, of: asker) else { return }
        endPairingLinkIfUnused(peer, on: host)
        let error = BackendError(.connectionFailed, operation: "pair", message: "the peer does not answer")
        lower.context.emit(
            PairingEvent.pairingFailed(peer: peer, operation: asker.operation, error: error), to: asker.manager)
    }

    /// Handles the removal of an agent: its questions are answered with a rejection, and requests of this agent alone
    /// end.
    mutating func removeAgent(_ ref: Ref<Manager>) {
        for host in lower.hosts.indices {
            for peer in security[host].requestedPeers
            where !security[host].takeRequests(for: peer, &lower.context, of: { $0.manager == ref }).isEmpty {
                endPairingLinkIfUnused(peer, on: host)
            }
        }
        for link in lower.links.refs { pairingContinued(security.remove(ref, from: link, &lower), on: link) }
    }

    mutating func failPairingRequests(_ peer: PeerID, on host: Int, _ error: BackendError) {
        for (manager, operation) in security[host].takeRequests(for: peer, &lower.context) {
            lower.context.emit(PairingEvent.pairingFailed(peer: peer, operation: operation, error: error), to: manager)
        }
    }

    // MARK: Links

    /// Pairs on a new link, if an app waits for that or the device requests it.
    mutating func pairIfRequested(_ ref: Ref<Link>) {
        guard let link = lower.links[ref] else { return }
        let askers = security[link.host].takeRequests(for: link.peer, &lower.context)
        guard link.security.refusal != nil else {
            // The link is encrypted with the keys of a bond.
            for (manager, operation) in askers {
                lower.context.emit(
                    PairingEvent.paired(peer: link.peer, operation: operation, isBonded: true), to: manager)
            }
            return endPairingLink(ref)
        }
        for asker in askers { startPairing(ref, asker: asker) }
        if let device = lower.air.devices[link.device], device.host == nil, device.description.pairing.requestsSecurity
        {
            startPairing(ref)
        }
    }

    /// Releases a link that exists for pairing only.
    private mutating func endPairingLink(_ ref: Ref<Link>) {
        guard let link = lower.links[ref],
            lower.hosts[link.host].ledger.leases(of: link.peer).contains(where: { $0.manager == pairingApp.packed })
        else { return }
        disconnect(link.host, pairingApp, link.peer)
    }

    /// Releases a link when no pairing waits for it.
    private mutating func endPairingLinkIfUnused(_ peer: PeerID, on host: Int) {
        if !security[host].requestedPeers.contains(peer) { disconnect(host, pairingApp, peer) }
    }

    // MARK: Bonds

    /// Bonds a host and a device, as if they had paired before.
    mutating func bond(_ host: Int, with ref: Ref<Device>) {
        guard let device = lower.air.devices[ref] else { return }
        security.bond(
            host, with: ref, device, as: device.identity.peers[host], lower.context.random.security.next(),
            isAuthenticated: true, &lower)
    }

    /// Deletes a host's keys of a device; their links end.
    mutating func removeBond(_ address: DeviceAddress, on host: Int, asker: HostPairing.Asker? = nil) {
        guard let bond = security.removeBond(address, on: host, &lower.context) else { return }
        for (agent, _) in lower.hosts.agents(of: host) {
            let operation = asker?.manager == agent ? asker?.operation : nil
            lower.context.emit(PairingEvent.unpaired(peer: bond.peer, operation: operation), to: agent)
        }
        for ref in lower.hosts[host].links.values.sorted() {
            guard let link = lower.links[ref], let device = lower.air.devices[link.device],
                device.identity.identityAddress == address
            else { continue }
            terminate(ref, reason: .unknown)
        }
        for ref in lower.air.serverLinks(of: lower.hosts[host])
        where lower.links[ref].map({ lower.hosts[$0.host].identity.address }) == address {
            terminate(ref, reason: .remote)
        }
    }

    /// Restores the subscriptions of a bonded central that is connected again, and indicates Service Changed for the
    /// changes in the meantime.
    mutating func resumeBond(on ref: Ref<Link>) {
        guard let link = lower.links[ref], link.security.refusal == nil, let device = lower.air.devices[link.device],
            let bond = security.serverBond(link.device, device, with: lower.hosts[link.host])
        else { return }
        gatt[ref]?.client.cache = security[link.host].bonds[device.identity.identityAddress]?.cache
        let leases = lower.externalSide(of: link) == .central ? lower.hosts[link.host].ledger.leases(of: link.peer) : []
        for attribute in bond.subscriptions.keys.sorted() {
            guard let uuid = device.server.database[attribute]?.uuid else { continue }
            // A host outside of the emulator gets the values by itself; on others, apps subscribe.
            for lease in leases {
                _ = lower.hosts[link.host].ledger.setSubscribed(lease.manager, to: attribute, of: link.peer, true)
            }
            subscribe(attribute, uuid, bond.subscriptions[attribute], on: ref)
        }
        let present = device.server.database.services
        let removed = bond.services.filter { !present.contains($0) }
        let added = present.filter { !bond.services.contains($0) }.compactMap(device.server.database.record(ofService:))
        if !removed.isEmpty || !added.isEmpty {
            gatt.sendServicesChanged(removed: removed, added: added, on: ref, &lower)
        }
    }
}
