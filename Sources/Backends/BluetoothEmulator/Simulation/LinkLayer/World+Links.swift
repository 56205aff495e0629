import BluetoothBackend
import BluetoothSupport
import BluetoothValues

// The lifecycle of links, from the pending connect to the end.
extension World {
    // MARK: Up

    /// Registers a pending connect; the peer's next connectable packet is answered, without a time limit.
    mutating func connect(
        _ host: Int, _ ref: Ref<Manager>, _ peer: PeerID, _ operation: OperationID, _ options: ConnectOptions
    ) {
        // A forgotten peer is recognized by its next packet.
        lower.hosts[host].peers.noteUse(of: peer)
        if let link = lower.hosts[host].links[peer] { lower.hosts.managers[ref]?.close(link) }
        switch lower.hosts[host].ledger.connect(ref.packed, to: peer, operation: operation, options: options) {
        case .connect: startConnecting(peer, on: host)
        case .wait: break
        case .linked(let lease):
            guard let ref = lower.hosts[host].links[peer], let link = lower.links[ref] else { return }
            lower.hosts.reportConnected(lease, ref, link, &lower.context)
        }
    }

    mutating func startConnecting(_ peer: PeerID, on host: Int) {
        lower.hosts[host].connecting.insert(peer)
        openServer(behind: peer, of: host)
        guard let (ref, device) = lower.air.device(peer, on: host) else { return }
        guard lower.links.reverseLink(to: device, from: host, lower.hosts) != nil else {
            return lower.context.configuration.advertisingCollides
                ? lower.air.wakeAll(lower.hosts, &lower.context) : lower.air.wake(ref, lower.hosts, &lower.context)
        }
        lower.hosts[host].connecting.remove(peer)
        lower.context.queue.schedule(
            .established(host, ref, epoch: lower.hosts[host].adapter.epoch, .pastFault), at: lower.context.now)
    }

    /// Stops waiting for a link to a peer.
    mutating func stopConnecting(_ peer: PeerID, on host: Int) {
        lower.hosts[host].connecting.remove(peer)
        security[host].stopWaiting(for: peer, &lower.context)
    }

    /// Links another app of the host to a device at once, without a packet, a fault or a question to the handler.
    mutating func connectOtherAppAtOnce(_ peer: PeerID, on host: Int) {
        connect(host, Hosts.otherApp, peer, OperationID(rawValue: 0), ConnectOptions())
        guard lower.hosts[host].links[peer] == nil, let (ref, _) = lower.air.device(peer, on: host) else { return }
        lower.context.queue.schedule(
            .established(host, ref, epoch: lower.hosts[host].adapter.epoch, .granted), at: lower.context.now)
    }

    /// Turns a connect into a link, if the device is present and admits it.
    mutating func established(_ host: Int, _ ref: Ref<Device>, _ epoch: UInt32, _ admission: ConnectAdmission) {
        guard lower.hosts[host].adapter.epoch == epoch else { return }
        guard let device = lower.air.devices[ref] else { return }
        let peer = device.identity.peers[host]
        guard !lower.hosts[host].ledger.leases(of: peer).isEmpty, lower.hosts[host].links[peer] == nil else { return }
        if let (existing, link) = lower.links.reverseLink(to: device, from: host, lower.hosts) {
            return linkUp(host, ref, peer, link.security, sharing: existing)
        }
        guard device.signal.isPresent,
            admission == .granted || device.links.isEmpty
                || device.advertiser.sets.contains(where: \.description.continuesWhileConnected)
        else { return startConnecting(peer, on: host) }
        lower.hosts[host].connecting.remove(peer)
        if admission != .granted,
            meetsFault(connecting: ref, to: host, as: peer, admission)
                || isHeldUp(connecting: ref, device, to: host, as: peer)
        {
            return
        }
        switch security.start(host, lower.hosts[host], ref, device) {
        case .secured(let level): linkUp(host, ref, peer, level)
        case .forgotten: failConnect(peer, on: host, .peerRemovedPairingInformation)
        case .silent:
            // The procedure response timeout (Core Specification, Vol 6, Part B, 5.2).
            security[host].encryptionTimeouts[peer] = lower.context.queue.scheduleCancellable(
                .encryptionTimeout(host, peer, epoch: lower.hosts[host].adapter.epoch),
                at: lower.context.now + Duration.seconds(40).nanoseconds)
        }
    }

    /// Returns whether a connect fails or meets a fault, and does not happen now.
    private mutating func meetsFault(
        connecting ref: Ref<Device>, to host: Int, as peer: PeerID, _ admission: ConnectAdmission
    ) -> Bool {
        let epoch = lower.hosts[host].adapter.epoch
        switch lower.air.devices[ref]?.takeFault(connecting: ref, to: host, epoch, admission, &lower.context) {
        case nil: return false
        case .fail?, .disconnect?: failConnect(peer, on: host, .connectionFailed)
        case .delay?, .pause?: break
        case .loseAnswer?, .delayAnswer?, .corrupt?: return false  // they do not hold up a connect
        }
        return true
    }

    /// Handles a bonded device that did not start encryption: no link comes up.
    mutating func encryptionTimedOut(_ peer: PeerID, on host: Int, _ epoch: UInt32) {
        guard lower.hosts[host].adapter.epoch == epoch else { return }
        security[host].encryptionTimeouts[peer] = nil
        guard lower.hosts[host].links[peer] == nil, !lower.hosts[host].connecting.contains(peer) else { return }
        failConnect(peer, on: host, .encryptionTimedOut)
    }

    mutating func failConnect(
        _ peer: PeerID, on host: Int, _ code: BackendError.Code, carrying original: OpaqueError? = nil
    ) {
        var error = BackendError(code, operation: "connect")
        error.original = original
        lower.context.report(.connectionFailed(host: host, peer: peer, code))
        failPairingRequests(peer, on: host, error)
        lower.hosts.reportConnectFailed(peer, on: host, error, &lower.context)
    }

    private mutating func linkUp(
        _ host: Int, _ ref: Ref<Device>, _ peer: PeerID, _ level: SecurityLevel, sharing existing: Ref<Link>? = nil
    ) {
        guard let device = lower.air.devices[ref] else { return }
        let server = device.host.map(maximumMTU(of:)) ?? device.description.maximumMTU
        let mtu = min(server, device.description.maximumMTU, maximumMTU(of: host))
        var new = Link(
            host: host, device: ref, peer: peer, mtu: mtu,
            timing: LinkTiming(
                lower.context.configuration, device.description, lower.hosts[host].linkParameters,
                anchor: lower.context.now),
            security: level)
        security.showCentral(of: &new, device, lower.hosts)
        let link = lower.links.insert(new, sharing: existing, &lower.context)
        gatt.open(link)
        let isLost = lower.air.devices[ref]?.addLink(link, of: host) == true && existing == nil
        lower.hosts[host].links[peer] = link
        if lower.context.tapped.contains(.links), let connection = tapped(link, isOpening: true) {
            lower.context.report(.connectionOpened(connection))
        }
        if lower.hosts[host].peers[peer] == nil {
            lower.hosts[host].peers[peer] = KnownPeer(address: device.identity.address)
        }
        lower.hosts[host].peers.noteUse(of: peer)
        guard let opened = lower.links[link] else { return }
        for lease in lower.hosts[host].ledger.linkUp(peer) {
            lower.hosts.reportConnected(lease, link, opened, &lower.context)
        }
        reportConnectionEvent(peer, isConnected: true, on: host)
        handle(.connected(opened.centralIdentity(lower.hosts)), at: ref)
        // The host reads the name by itself before anything else.
        readDeviceName(on: link)
        subscribeForTerminatedApps(on: link)
        resumeBond(on: link)
        pairIfRequested(link)
        welcomeCentral(of: link)
        if isLost { lower.links.fallSilent(link, isLost: true, &lower.context) }
        lower.air.wake(ref, lower.hosts, &lower.context)
    }

    /// The largest MTU that a host offers, in either role.
    func maximumMTU(of host: Int) -> Int {
        max(
            ATTLimits.minimumMTU,
            min(lower.context.configuration.maximumMTU, lower.hosts[host].adapter.maximumMTU ?? .max))
    }

    // MARK: Links between hosts

    /// Makes a device of a connected central, so that its peripheral can connect to it.
    mutating func openServer(behind peer: PeerID, of host: Int) {
        let links = lower.links.serverLinks(of: lower.hosts[host], with: peer, lower.air)
        if let (_, link) = links.first { openServer(of: link.host, knownAs: (peer, host)) }
    }

    /// Handles a new link: the host behind the device learns of its central, and the link answers that host's connects
    /// to it.
    mutating func welcomeCentral(of ref: Ref<Link>) {
        guard let link = lower.links[ref], let server = link.server else { return }
        if lower.hosts[server.host].peers[server.central] == nil {
            lower.hosts[server.host].peers[server.central] = KnownPeer(
                address: link.centralIdentity(lower.hosts).address)
        }
        guard link.other == nil, let central = lower.hosts[link.host].server, let device = lower.air.devices[central],
            lower.hosts[server.host].connecting.remove(device.identity.peers[server.host]) != nil
        else { return }
        lower.context.queue.schedule(
            .established(server.host, central, epoch: lower.hosts[server.host].adapter.epoch, .pastFault),
            at: lower.context.now)
    }

    // MARK: Down

    /// Ends a manager's pending connect or its lease of a link.
    mutating func disconnect(_ host: Int, _ ref: Ref<Manager>, _ peer: PeerID) {
        switch lower.hosts[host].ledger.disconnect(ref.packed, from: peer) {
        case .nothing: break
        case .withdrawn(let isLast): if isLast { stopConnecting(peer, on: host) }
        case .closed(let id, let isLast):
            var time = lower.context.configuration.disconnectionDelay.nanoseconds
            if let open = lower.hosts[host].links[peer], let link = lower.links[open] {
                channels.closeAll(of: ref, on: open, &lower)
                time = link.disconnectionTime(lower.context.configuration)
                isLast ? lower.links.close(open, .local, &lower.context) : pruneSubscriptions(open)
            }
            guard ref.slot != .max else { return }
            lower.hosts.managers[ref]?.release(id, to: peer)
            lower.context.queue.schedule(
                .reportLocal(ref, id, epoch: lower.hosts[host].adapter.epoch), at: lower.context.now + time)
        }
    }

    /// Ends a link for all managers that lease it, and reconnects for those that requested it.
    mutating func terminate(_ ref: Ref<Link>, reason: DisconnectReason) {
        guard let link = lower.links[ref] else { return }
        if let other = lower.links.part(ref, reason: reason) { terminate(other, reason: reason.mirrored) }
        let (host, peer) = (link.host, link.peer)
        lower.hosts[host].links[peer] = nil
        drop(ref, reason: reason)
        lower.hosts.reportDisconnected(link, reason, &lower.context)
        reportConnectionEvent(peer, isConnected: false, on: host)
        if !lower.hosts[host].ledger.leases(of: peer).isEmpty { startConnecting(peer, on: host) }
    }

    /// Removes a link from the world and from its device.
    ///
    /// - Parameter reason: The reason for the central.
    mutating func drop(_ ref: Ref<Link>, reason: DisconnectReason) {
        security.abandon(ref, &lower)
        leaveServer(ref, reason: reason.ofOtherSide)
        channels.endAll(of: ref)
        externalPackets.end(ref)
        if let link = lower.links[ref], let device = lower.air.devices[link.device] {
            security.rememberDatabase(of: link, gatt[ref]?.client.cache, device)
        }
        guard lower.links.remove(ref, &lower.context) != nil else { return }
        gatt.close(ref, &lower.context)
        lower.context.report(.connectionClosed(link: ref.serial, side: .central, reason))
    }

    /// Ends the server's side of a link, for the device or for the managers of a host.
    ///
    /// - Parameter reason: The reason for the device.
    mutating func leaveServer(_ ref: Ref<Link>, reason: DisconnectReason) {
        guard let link = lower.links[ref], lower.air.devices[link.device]?.removeLink(ref) == true else { return }
        endServerChannels(of: ref, link)
        if let server = gatt[ref]?.server, let device = lower.air.devices[link.device] {
            security.rememberCentral(of: link, server, device, lower.hosts[link.host])
        }
        gatt.reportCentralLeft(ref, link, &lower)
        gatt[ref]?.server.centralLeft()
        lower.context.report(.connectionClosed(link: ref.serial, side: .peripheral, reason))
        handle(.disconnected(link.centralIdentity(lower.hosts)), at: link.device)
        lower.air.wake(link.device, lower.hosts, &lower.context)
    }

    private mutating func reportConnectionEvent(_ peer: PeerID, isConnected: Bool, on host: Int) {
        let database = lower.air.device(peer, on: host)?.element.server.database
        lower.hosts.reportConnectionEvent(peer, isConnected: isConnected, on: host, database, &lower.context)
    }

    // MARK: Controls

    /// Applies a control to a link; does nothing if the link ended.
    mutating func apply(_ control: LinkControl, to number: UInt32) {
        guard let ref = lower.links.refs.first(where: { $0.serial == number }) else { return }
        switch control {
        case .close(let reason): lower.links.close(ref, reason, &lower.context)
        case .setParameters(let parameters): lower.links.update(parameters, ref, &lower.context)
        case .setSecurity(let level): security.secure(ref, level, &lower)
        case .askUser(let side, let question): security.ask(question, side, on: ref, &lower)
        case .endPairing(let result):
            if result == .resumed { resumeBond(on: ref) }
            pairingContinued(security.endExternal(result, on: ref, &lower), on: ref)
        case .notify(let attribute, let value): notify(value, attribute, on: ref)
        case .send(let side, let channel, let payload):
            externalPackets.send(payload, on: channel, by: side, of: ref, &lower)
        }
    }

    // MARK: Out of range

    /// Starts or ends the silence on a device's links.
    mutating func rangeChanged(_ ref: Ref<Device>) {
        guard let device = lower.air.devices[ref] else { return }
        for link in device.links {
            device.signal.isInRange
                ? lower.links.hearAgain(link, &lower.context) : lower.links.fallSilent(link, &lower.context)
        }
        if device.signal.isInRange { lower.air.wake(ref, lower.hosts, &lower.context) }
    }

    mutating func supervisionExpired(_ ref: Ref<Link>) {
        lower.links[ref]?.supervision.timeout = nil
        terminate(ref, reason: .timeout)
    }
}
