import BluetoothBackend
import BluetoothSupport
import BluetoothValues

// The lifecycle of links, from the pending connect to the end.
extension World {
    /// The number under which the ledger registers another app of the host; no manager has it.
    var otherApp: Ref<Manager> { Ref(slot: .max, serial: 0) }

    private func isManager(_ ref: Ref<Manager>) -> Bool { ref.slot != .max }

    // MARK: Up

    /// Registers a pending connect; the peer's next connectable packet is answered, without a time limit.
    mutating func connect(
        _ host: Int, _ ref: Ref<Manager>, _ peer: PeerID, _ operation: OperationID, _ options: ConnectOptions
    ) {
        // A forgotten peer is recognized by its next packet.
        hosts[host].peers.noteUse(of: peer)
        if let link = hosts[host].links[peer], let old = hosts.managers[ref]?.id(of: link) {
            hosts.managers[ref]?.close(old)
        }
        switch hosts[host].ledger.connect(ref.packed, to: peer, operation: operation, options: options) {
        case .connect: startConnecting(peer, on: host)
        case .wait: break
        case .linked(let lease):
            guard let link = hosts[host].links[peer] else { return }
            reportConnected(lease, peer, link)
        }
    }

    mutating func startConnecting(_ peer: PeerID, on host: Int) {
        hosts[host].connecting.insert(peer)
        openServer(behind: peer, of: host)
        guard let device = air.device(peer, on: host) else { return }
        guard links.reverseLink(to: device, from: host, air, hosts) != nil else {
            return context.configuration.advertisingCollides
                ? air.wakeAll(hosts, &context) : air.wake(device, hosts, &context)
        }
        hosts[host].connecting.remove(peer)
        context.queue.schedule(
            .established(host, device, epoch: hosts[host].adapter.epoch, .pastFault), at: context.now)
    }

    /// Stops waiting for a link to a peer.
    mutating func stopConnecting(_ peer: PeerID, on host: Int) {
        hosts[host].connecting.remove(peer)
        security[host].stopWaiting(for: peer, &context)
    }

    /// Links another app of the host to a device at once, without a packet, a fault or a question to the handler.
    mutating func connectOtherAppAtOnce(_ peer: PeerID, on host: Int) {
        connect(host, otherApp, peer, OperationID(rawValue: 0), ConnectOptions())
        guard hosts[host].links[peer] == nil, let device = air.device(peer, on: host) else { return }
        context.queue.schedule(.established(host, device, epoch: hosts[host].adapter.epoch, .granted), at: context.now)
    }

    /// Turns a connect into a link, if the device is present and admits it.
    mutating func established(_ host: Int, _ ref: Ref<Device>, _ epoch: UInt32, _ admission: ConnectAdmission) {
        guard hosts[host].adapter.epoch == epoch else { return }
        guard let device = air.devices[ref] else { return }
        let peer = device.identity.peers[host]
        guard !hosts[host].ledger.leases(of: peer).isEmpty, hosts[host].links[peer] == nil else { return }
        if let existing = links.reverseLink(to: ref, from: host, air, hosts) {
            return linkUp(host, ref, peer, links[existing]?.security ?? .plain, sharing: existing)
        }
        guard device.signal.isPresent,
            admission == .granted || device.links.isEmpty
                || device.advertiser.sets.contains(where: \.description.continuesWhileConnected)
        else { return startConnecting(peer, on: host) }
        hosts[host].connecting.remove(peer)
        if admission != .granted,
            fails(connecting: ref, to: host) || admission == .requested && meetsFault(connecting: ref, to: host)
                || isHeldUp(connecting: ref, to: host)
        {
            return
        }
        switch security.start(host, hosts[host], ref, device) {
        case .secured(let level): linkUp(host, ref, peer, level)
        case .forgotten: failConnect(peer, on: host, .peerRemovedPairingInformation)
        case .silent:
            // The procedure response timeout (Core Specification, Vol 6, Part B, 5.2).
            security[host].encryptionTimeouts[peer] = context.queue.scheduleCancellable(
                .encryptionTimeout(host, peer, epoch: hosts[host].adapter.epoch),
                at: context.now + Duration.seconds(40).nanoseconds)
        }
    }

    /// Returns whether a connect fails, by chance or because a test requested it.
    private mutating func fails(connecting ref: Ref<Device>, to host: Int) -> Bool {
        guard let peer = air.devices[ref]?.identity.peers[host],
            let failing = air.devices[ref]?.faults.failingConnections,
            failing > 0 || context.random.faults.happens(context.configuration.connectionFailureRate)
        else { return false }
        air.devices[ref]?.faults.failingConnections = max(0, failing - 1)
        failConnect(peer, on: host, .connectionFailed)
        return true
    }

    /// Handles a bonded device that did not start encryption: no link comes up.
    mutating func encryptionTimedOut(_ peer: PeerID, on host: Int, _ epoch: UInt32) {
        guard hosts[host].adapter.epoch == epoch else { return }
        security[host].encryptionTimeouts[peer] = nil
        guard hosts[host].links[peer] == nil, !hosts[host].connecting.contains(peer) else { return }
        failConnect(peer, on: host, .encryptionTimedOut)
    }

    mutating func failConnect(
        _ peer: PeerID, on host: Int, _ code: BackendError.Code, carrying original: OpaqueError? = nil
    ) {
        var error = BackendError(code, operation: "connect")
        error.original = original
        if context.tapped.contains(.links) { context.report(.connectionFailed(host: host, peer: peer, code)) }
        failPairingRequests(peer, on: host, error)
        for lease in hosts[host].ledger.connectFailed(peer) {
            let manager = Ref<Manager>(packed: lease.manager)
            guard isManager(manager) else { continue }
            context.emit(.connectFailed(peer: peer, operation: lease.operation, error: error), to: manager)
        }
    }

    private mutating func linkUp(
        _ host: Int, _ ref: Ref<Device>, _ peer: PeerID, _ level: SecurityLevel, sharing existing: Ref<Link>? = nil
    ) {
        guard let device = air.devices[ref] else { return }
        let server = device.host.map(maximumMTU(of:)) ?? device.description.maximumMTU
        let mtu = min(server, device.description.maximumMTU, maximumMTU(of: host))
        var new = Link(
            host: host, device: ref, peer: peer, mtu: mtu,
            timing: LinkTiming(context.configuration, device.description, anchor: context.now), security: level)
        security.showCentral(of: &new, device, hosts)
        let link = links.insert(new)
        air.devices[ref]?.links.append(link)
        if let existing { links.join(link, to: existing, &context) }
        hosts[host].links[peer] = link
        reportOpening(of: link)
        if hosts[host].peers[peer] == nil {
            hosts[host].peers[peer] = KnownPeer(address: device.identity.address)
        }
        hosts[host].peers.noteUse(of: peer)
        for lease in hosts[host].ledger.linkUp(peer) { reportConnected(lease, peer, link) }
        reportConnectionEvent(peer, isConnected: true, on: host)
        handle(.connected(links.central(of: link, hosts)), at: ref)
        // The host reads the name by itself before anything else.
        enqueue(LinkOperation(manager: otherApp, kind: .deviceName), on: link)
        subscribeForTerminatedApps(on: link)
        resumeBond(on: link)
        pairIfRequested(link)
        welcomeCentral(of: link)
        air.wake(ref, hosts, &context)
    }

    /// The largest MTU that a host offers, in either role.
    func maximumMTU(of host: Int) -> Int {
        max(ATTLimits.minimumMTU, min(context.configuration.maximumMTU, hosts[host].adapter.maximumMTU ?? .max))
    }

    private mutating func reportConnected(_ lease: HostLedger.LinkLease, _ peer: PeerID, _ link: Ref<Link>) {
        let manager = Ref<Manager>(packed: lease.manager)
        guard isManager(manager), let id = lease.link, let mtu = links[link]?.mtu else { return }
        // If other managers kept the link open, the manager is connected again at once; its earlier end must come
        // first.
        completeDisconnect(manager, peer)
        let delay = context.configuration.writeReadinessDelay.nanoseconds
        let credits = delay > 0 ? 0 : context.configuration.transmitBuffer
        hosts.managers[manager]?.open(id, Manager.OpenLink(link: link, credits: credits))
        if delay > 0 { context.queue.schedule(.becomeReadyToWrite(manager, id), at: context.now + delay) }
        let parameters = LinkParameters(mtu: mtu, writeCredits: credits)
        context.emit(.connected(peer: peer, link: id, operation: lease.operation, parameters: parameters), to: manager)
    }

    /// Allows write commands on a new link.
    mutating func becomeReadyToWrite(_ manager: Ref<Manager>, _ link: LinkID) {
        let credits = context.configuration.transmitBuffer
        guard hosts.managers[manager]?.grantCredits(credits, on: link) == true else { return }
        context.emit(.writeCredits(link: link, count: credits), to: manager)
    }

    // MARK: Links between hosts

    /// Makes a device of a connected central, so that its peripheral can connect to it.
    mutating func openServer(behind peer: PeerID, of host: Int) {
        let centrals = hosts[host].server.flatMap { air.devices[$0]?.links } ?? []
        guard let link = centrals.first(where: { links[$0]?.server.central == peer }), let other = links[link]?.host,
            hosts[other].server == nil
        else { return }
        openServer(of: other)
        guard let server = hosts[other].server else { return }
        air.devices[server]?.identity.peers[host] = peer
    }

    /// Handles a new link: the host behind the device learns of its central, and the link answers that host's connects
    /// to it.
    mutating func welcomeCentral(of ref: Ref<Link>) {
        guard let link = links[ref], let central = link.server.central, let server = air.devices[link.device]?.host
        else {
            return
        }
        if hosts[server].peers[central] == nil {
            hosts[server].peers[central] = KnownPeer(
                address: link.server.centralAddress ?? hosts[link.host].identity.address)
        }
        guard link.other == nil, let device = hosts[link.host].server,
            let peer = air.devices[device]?.identity.peers[server],
            hosts[server].connecting.remove(peer) != nil
        else { return }
        context.queue.schedule(
            .established(server, device, epoch: hosts[server].adapter.epoch, .pastFault), at: context.now)
    }

    // MARK: Down

    /// Ends a manager's pending connect or its lease of a link.
    mutating func disconnect(_ host: Int, _ ref: Ref<Manager>, _ peer: PeerID) {
        switch hosts[host].ledger.disconnect(ref.packed, from: peer) {
        case .nothing: break
        case .withdrawn(let isLast):
            if isLast { stopConnecting(peer, on: host) }
        case .closed(let id, let isLast):
            let link = hosts[host].links[peer]
            if let link { channels.closeAll(of: ref, on: link, links, &context) }
            let time =
                link.map { links.disconnectionTime(of: $0, context.configuration) }
                ?? context.configuration.disconnectionDelay.nanoseconds
            if let link { isLast ? links.scheduleLocalClose(link, &context) : pruneSubscriptions(link) }
            guard isManager(ref) else { return }
            hosts.managers[ref]?.close(id)
            hosts.managers[ref]?.pendingDisconnects[peer] = id
            context.queue.schedule(.reportLocal(ref, id, epoch: hosts[host].adapter.epoch), at: context.now + time)
        }
    }

    mutating func reportLocal(_ ref: Ref<Manager>, _ link: LinkID, _ epoch: UInt32) {
        guard let host = hosts.managers[ref]?.host, hosts[host].adapter.epoch == epoch,
            let peer = hosts.managers[ref]?.pendingDisconnects.first(where: { $0.value == link })?.key
        else { return }
        completeDisconnect(ref, peer)
    }

    /// Delivers the end that a manager requested, if it is not delivered yet.
    private mutating func completeDisconnect(_ ref: Ref<Manager>, _ peer: PeerID) {
        guard let link = hosts.managers[ref]?.pendingDisconnects.removeValue(forKey: peer) else { return }
        context.emit(.disconnected(link: link, reason: .local, at: context.date, isReconnecting: false), to: ref)
    }

    /// Ends a link for all managers that lease it, and reconnects for those that requested it.
    mutating func terminate(_ ref: Ref<Link>, reason: DisconnectReason) {
        guard let link = links[ref] else { return }
        if let other = links.part(ref, reason: reason) { terminate(other, reason: reason.mirrored) }
        let (host, peer) = (link.host, link.peer)
        hosts[host].links[peer] = nil
        drop(ref, reason: reason)
        for lease in hosts[host].ledger.linkDown(peer, isReconnecting: true) {
            let manager = Ref<Manager>(packed: lease.manager)
            guard isManager(manager), let id = lease.link else { continue }
            hosts.managers[manager]?.close(id)
            let isKnown = reason == .local || hosts[host].adapter.features.contains(.disconnectReason)
            context.emit(
                .disconnected(
                    link: id, reason: isKnown ? reason : .unknown, at: context.date,
                    isReconnecting: lease.options.autoReconnect,
                    error: reason == .remote ? link.server.requests.closingError : nil),
                to: manager)
        }
        reportConnectionEvent(peer, isConnected: false, on: host)
        if !hosts[host].ledger.leases(of: peer).isEmpty { startConnecting(peer, on: host) }
    }

    /// Removes a link from the world and from its device.
    ///
    /// - Parameter reason: The reason for the central.
    mutating func drop(_ ref: Ref<Link>, reason: DisconnectReason) {
        security.abandon(ref, hosts, &context)
        leaveServer(ref, reason: reason.ofOtherSide)
        channels.endAll(of: ref)
        if let link = links[ref], let device = air.devices[link.device] {
            security.rememberDatabase(of: link, device)
        }
        guard links.remove(ref, &context) != nil else { return }
        if context.tapped.contains(.links) {
            context.report(.connectionClosed(link: ref.serial, side: .central, reason))
        }
    }

    /// Ends the server's side of a link, for the device or for the managers of a host.
    ///
    /// - Parameter reason: The reason for the device.
    mutating func leaveServer(_ ref: Ref<Link>, reason: DisconnectReason) {
        guard let device = links[ref]?.device, air.devices[device]?.links.contains(ref) == true else { return }
        air.devices[device]?.links.removeAll { $0 == ref }
        endServerChannels(of: ref, at: device)
        if let link = links[ref], let left = air.devices[device] {
            security.rememberCentral(of: link, left, hosts[link.host])
        }
        reportCentralLeft(ref)
        links[ref]?.server.pendingRequest = nil
        links[ref]?.server.subscriptions = [:]
        if context.tapped.contains(.links) {
            context.report(.connectionClosed(link: ref.serial, side: .peripheral, reason))
        }
        handle(.disconnected(links.central(of: ref, hosts)), at: device)
        air.wake(device, hosts, &context)
    }

    private mutating func reportConnectionEvent(_ peer: PeerID, isConnected: Bool, on host: Int) {
        let database = air.device(peer, on: host).flatMap { air.devices[$0]?.server.database }
        for manager in hosts[host].managers {
            guard let filter = hosts.managers[manager]?.connectionEventFilter,
                database?.offers(filter.services) == true || filter.peers.contains(peer)
            else { continue }
            context.emit(.connectionEvent(peer: peer, isConnected: isConnected), to: manager)
        }
    }

    // MARK: Out of range

    /// Starts or ends the silence on a device's links.
    mutating func rangeChanged(_ ref: Ref<Device>) {
        guard let device = air.devices[ref] else { return }
        for link in device.links {
            device.signal.isInRange ? links.hearAgain(link, &context) : links.fallSilent(link, &context)
        }
        if device.signal.isInRange { air.wake(ref, hosts, &context) }
    }

    mutating func supervisionExpired(_ ref: Ref<Link>) {
        links[ref]?.supervision.timeout = nil
        terminate(ref, reason: .timeout)
    }
}
