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
        radio.hosts[host].peers.noteUse(of: peer)
        if let link = radio.hosts[host].links[peer] { radio.hosts.managers[ref]?.close(link) }
        switch radio.hosts[host].ledger.connect(ref.packed, to: peer, operation: operation, options: options) {
        case .connect: startConnecting(peer, on: host)
        case .wait: break
        case .linked(let lease):
            guard let link = radio.hosts[host].links[peer] else { return }
            reportConnected(lease, peer, link)
        }
    }

    /// Opens a link for the manager that leases it.
    private mutating func reportConnected(_ lease: HostLedger.LinkLease, _ peer: PeerID, _ ref: Ref<Link>) {
        guard let mtu = radio.links[ref]?.mtu else { return }
        radio.hosts.reportConnected(lease, peer, ref, mtu: mtu, &radio.context)
    }

    mutating func startConnecting(_ peer: PeerID, on host: Int) {
        radio.hosts[host].connecting.insert(peer)
        openServer(behind: peer, of: host)
        guard let device = radio.air.device(peer, on: host) else { return }
        guard radio.links.reverseLink(to: device, from: host, radio.air, radio.hosts) != nil else {
            return radio.context.configuration.advertisingCollides
                ? radio.air.wakeAll(radio.hosts, &radio.context) : radio.air.wake(device, radio.hosts, &radio.context)
        }
        radio.hosts[host].connecting.remove(peer)
        radio.context.queue.schedule(
            .established(host, device, epoch: radio.hosts[host].adapter.epoch, .pastFault), at: radio.context.now)
    }

    /// Stops waiting for a link to a peer.
    mutating func stopConnecting(_ peer: PeerID, on host: Int) {
        radio.hosts[host].connecting.remove(peer)
        security[host].stopWaiting(for: peer, &radio.context)
    }

    /// Links another app of the host to a device at once, without a packet, a fault or a question to the handler.
    mutating func connectOtherAppAtOnce(_ peer: PeerID, on host: Int) {
        connect(host, Hosts.otherApp, peer, OperationID(rawValue: 0), ConnectOptions())
        guard radio.hosts[host].links[peer] == nil, let device = radio.air.device(peer, on: host) else { return }
        radio.context.queue.schedule(
            .established(host, device, epoch: radio.hosts[host].adapter.epoch, .granted), at: radio.context.now)
    }

    /// Turns a connect into a link, if the device is present and admits it.
    mutating func established(_ host: Int, _ ref: Ref<Device>, _ epoch: UInt32, _ admission: ConnectAdmission) {
        guard radio.hosts[host].adapter.epoch == epoch else { return }
        guard let device = radio.air.devices[ref] else { return }
        let peer = device.identity.peers[host]
        guard !radio.hosts[host].ledger.leases(of: peer).isEmpty, radio.hosts[host].links[peer] == nil else { return }
        if let existing = radio.links.reverseLink(to: ref, from: host, radio.air, radio.hosts) {
            return linkUp(host, ref, peer, radio.links[existing]?.security ?? .plain, sharing: existing)
        }
        guard device.signal.isPresent,
            admission == .granted || device.links.isEmpty
                || device.advertiser.sets.contains(where: \.description.continuesWhileConnected)
        else { return startConnecting(peer, on: host) }
        radio.hosts[host].connecting.remove(peer)
        if admission != .granted,
            fails(connecting: ref, to: host, as: peer)
                || admission == .requested && meetsFault(connecting: ref, to: host, as: peer)
                || isHeldUp(connecting: ref, to: host)
        {
            return
        }
        switch security.start(host, radio.hosts[host], ref, device) {
        case .secured(let level): linkUp(host, ref, peer, level)
        case .forgotten: failConnect(peer, on: host, .peerRemovedPairingInformation)
        case .silent:
            // The procedure response timeout (Core Specification, Vol 6, Part B, 5.2).
            security[host].encryptionTimeouts[peer] = radio.context.queue.scheduleCancellable(
                .encryptionTimeout(host, peer, epoch: radio.hosts[host].adapter.epoch),
                at: radio.context.now + Duration.seconds(40).nanoseconds)
        }
    }

    /// Returns whether a connect fails, by chance or because a test requested it.
    private mutating func fails(connecting ref: Ref<Device>, to host: Int, as peer: PeerID) -> Bool {
        guard
            radio.air.devices[ref]?.faults.takeFailingConnection() == true
                || radio.context.random.faults.happens(radio.context.configuration.connectionFailureRate)
        else { return false }
        failConnect(peer, on: host, .connectionFailed)
        return true
    }

    /// Returns whether a connect meets a fault and does not happen now.
    private mutating func meetsFault(connecting ref: Ref<Device>, to host: Int, as peer: PeerID) -> Bool {
        let epoch = radio.hosts[host].adapter.epoch
        switch radio.air.devices[ref]?.takeFault(.connect, at: ref, &radio.context) {
        case nil: return false
        case .fail?, .disconnect?: failConnect(peer, on: host, .connectionFailed)
        case .delay(let time)?:
            radio.context.queue.schedule(
                .established(host, ref, epoch: epoch, .pastFault), at: radio.context.now + max(0, time.nanoseconds))
        case .pause?: radio.air.devices[ref]?.faults.pausedConnects.append((host, epoch))
        }
        return true
    }

    /// Handles a bonded device that did not start encryption: no link comes up.
    mutating func encryptionTimedOut(_ peer: PeerID, on host: Int, _ epoch: UInt32) {
        guard radio.hosts[host].adapter.epoch == epoch else { return }
        security[host].encryptionTimeouts[peer] = nil
        guard radio.hosts[host].links[peer] == nil, !radio.hosts[host].connecting.contains(peer) else { return }
        failConnect(peer, on: host, .encryptionTimedOut)
    }

    mutating func failConnect(
        _ peer: PeerID, on host: Int, _ code: BackendError.Code, carrying original: OpaqueError? = nil
    ) {
        var error = BackendError(code, operation: "connect")
        error.original = original
        if radio.context.tapped.contains(.links) {
            radio.context.report(.connectionFailed(host: host, peer: peer, code))
        }
        failPairingRequests(peer, on: host, error)
        radio.hosts.reportConnectFailed(peer, on: host, error, &radio.context)
    }

    private mutating func linkUp(
        _ host: Int, _ ref: Ref<Device>, _ peer: PeerID, _ level: SecurityLevel, sharing existing: Ref<Link>? = nil
    ) {
        guard let device = radio.air.devices[ref] else { return }
        let server = device.host.map(maximumMTU(of:)) ?? device.description.maximumMTU
        let mtu = min(server, device.description.maximumMTU, maximumMTU(of: host))
        var new = Link(
            host: host, device: ref, peer: peer, mtu: mtu,
            timing: LinkTiming(radio.context.configuration, device.description, anchor: radio.context.now),
            security: level)
        security.showCentral(of: &new, device, radio.hosts)
        let link = radio.links.insert(new)
        gatt.open(link)
        radio.air.devices[ref]?.links.append(link)
        if let existing { radio.links.join(link, to: existing, &radio.context) }
        radio.hosts[host].links[peer] = link
        if radio.context.tapped.contains(.links),
            let connection = radio.links.tapped(link, isOpening: true, gatt, security, radio.air, radio.hosts)
        {
            radio.context.report(.connectionOpened(connection))
        }
        if radio.hosts[host].peers[peer] == nil {
            radio.hosts[host].peers[peer] = KnownPeer(address: device.identity.address)
        }
        radio.hosts[host].peers.noteUse(of: peer)
        for lease in radio.hosts[host].ledger.linkUp(peer) { reportConnected(lease, peer, link) }
        reportConnectionEvent(peer, isConnected: true, on: host)
        handle(.connected(radio.links.central(of: link, radio.hosts)), at: ref)
        // The host reads the name by itself before anything else.
        readDeviceName(on: link)
        subscribeForTerminatedApps(on: link)
        resumeBond(on: link)
        pairIfRequested(link)
        welcomeCentral(of: link)
        radio.air.wake(ref, radio.hosts, &radio.context)
    }

    /// The largest MTU that a host offers, in either role.
    func maximumMTU(of host: Int) -> Int {
        max(
            ATTLimits.minimumMTU,
            min(radio.context.configuration.maximumMTU, radio.hosts[host].adapter.maximumMTU ?? .max))
    }

    // MARK: Links between hosts

    /// Makes a device of a connected central, so that its peripheral can connect to it.
    mutating func openServer(behind peer: PeerID, of host: Int) {
        guard let link = radio.links.serverLinks(of: radio.hosts[host], with: peer, radio.air).first,
            let other = radio.links[link]?.host, radio.hosts[other].server == nil
        else { return }
        openServer(of: other)
        guard let server = radio.hosts[other].server else { return }
        radio.air.devices[server]?.identity.peers[host] = peer
    }

    /// Handles a new link: the host behind the device learns of its central, and the link answers that host's connects
    /// to it.
    mutating func welcomeCentral(of ref: Ref<Link>) {
        guard let link = radio.links[ref], let central = link.central, let server = radio.air.devices[link.device]?.host
        else { return }
        if radio.hosts[server].peers[central] == nil {
            radio.hosts[server].peers[central] = KnownPeer(
                address: link.centralAddress ?? radio.hosts[link.host].identity.address)
        }
        guard link.other == nil, let device = radio.hosts[link.host].server,
            let peer = radio.air.devices[device]?.identity.peers[server],
            radio.hosts[server].connecting.remove(peer) != nil
        else { return }
        radio.context.queue.schedule(
            .established(server, device, epoch: radio.hosts[server].adapter.epoch, .pastFault), at: radio.context.now)
    }

    // MARK: Down

    /// Ends a manager's pending connect or its lease of a link.
    mutating func disconnect(_ host: Int, _ ref: Ref<Manager>, _ peer: PeerID) {
        switch radio.hosts[host].ledger.disconnect(ref.packed, from: peer) {
        case .nothing: break
        case .withdrawn(let isLast): if isLast { stopConnecting(peer, on: host) }
        case .closed(let id, let isLast):
            let link = radio.hosts[host].links[peer]
            if let link { channels.closeAll(of: ref, on: link, &radio) }
            let time =
                link.map { radio.links.disconnectionTime(of: $0, radio.context.configuration) }
                ?? radio.context.configuration.disconnectionDelay.nanoseconds
            if let link { isLast ? radio.links.scheduleLocalClose(link, &radio.context) : pruneSubscriptions(link) }
            guard ref.slot != .max else { return }
            radio.hosts.managers[ref]?.release(id, to: peer)
            radio.context.queue.schedule(
                .reportLocal(ref, id, epoch: radio.hosts[host].adapter.epoch), at: radio.context.now + time)
        }
    }

    /// Ends a link for all managers that lease it, and reconnects for those that requested it.
    mutating func terminate(_ ref: Ref<Link>, reason: DisconnectReason) {
        guard let link = radio.links[ref] else { return }
        if let other = radio.links.part(ref, reason: reason) { terminate(other, reason: reason.mirrored) }
        let (host, peer) = (link.host, link.peer)
        radio.hosts[host].links[peer] = nil
        drop(ref, reason: reason)
        radio.hosts.reportDisconnected(link, reason, &radio.context)
        reportConnectionEvent(peer, isConnected: false, on: host)
        if !radio.hosts[host].ledger.leases(of: peer).isEmpty { startConnecting(peer, on: host) }
    }

    /// Removes a link from the world and from its device.
    ///
    /// - Parameter reason: The reason for the central.
    mutating func drop(_ ref: Ref<Link>, reason: DisconnectReason) {
        security.abandon(ref, &radio)
        leaveServer(ref, reason: reason.ofOtherSide)
        channels.endAll(of: ref)
        if let link = radio.links[ref], let device = radio.air.devices[link.device] {
            security.rememberDatabase(of: link, gatt[ref]?.client.cache, device)
        }
        guard radio.links.remove(ref, &radio.context) != nil else { return }
        gatt.close(ref, &radio.context)
        if radio.context.tapped.contains(.links) {
            radio.context.report(.connectionClosed(link: ref.serial, side: .central, reason))
        }
    }

    /// Ends the server's side of a link, for the device or for the managers of a host.
    ///
    /// - Parameter reason: The reason for the device.
    mutating func leaveServer(_ ref: Ref<Link>, reason: DisconnectReason) {
        guard let device = radio.links[ref]?.device, radio.air.devices[device]?.links.contains(ref) == true else {
            return
        }
        radio.air.devices[device]?.links.removeAll { $0 == ref }
        endServerChannels(of: ref, at: device)
        if let link = radio.links[ref], let server = gatt[ref]?.server, let left = radio.air.devices[device] {
            security.rememberCentral(of: link, server, left, radio.hosts[link.host])
        }
        gatt.reportCentralLeft(ref, &radio)
        gatt[ref]?.server.centralLeft()
        if radio.context.tapped.contains(.links) {
            radio.context.report(.connectionClosed(link: ref.serial, side: .peripheral, reason))
        }
        handle(.disconnected(radio.links.central(of: ref, radio.hosts)), at: device)
        radio.air.wake(device, radio.hosts, &radio.context)
    }

    private mutating func reportConnectionEvent(_ peer: PeerID, isConnected: Bool, on host: Int) {
        let database = radio.air.device(peer, on: host).flatMap { radio.air.devices[$0]?.server.database }
        radio.hosts.reportConnectionEvent(peer, isConnected: isConnected, on: host, database, &radio.context)
    }

    // MARK: Out of range

    /// Starts or ends the silence on a device's links.
    mutating func rangeChanged(_ ref: Ref<Device>) {
        guard let device = radio.air.devices[ref] else { return }
        for link in device.links {
            device.signal.isInRange
                ? radio.links.hearAgain(link, &radio.context) : radio.links.fallSilent(link, &radio.context)
        }
        if device.signal.isInRange { radio.air.wake(ref, radio.hosts, &radio.context) }
    }

    mutating func supervisionExpired(_ ref: Ref<Link>) {
        radio.links[ref]?.supervision.timeout = nil
        terminate(ref, reason: .timeout)
    }
}
