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
        if let link = hosts[host].links[peer], let old = managers[ref]?.id(of: link) { managers[ref]?.close(old) }
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
        guard let device = device(peer, on: host) else { return }
        guard reverseLink(to: device, from: host) != nil else {
            return context.configuration.advertisingCollides ? wakeAll() : wake(device)
        }
        hosts[host].connecting.remove(peer)
        context.queue.schedule(
            .established(host, device, epoch: hosts[host].adapter.epoch, .pastFault), at: context.now)
    }

    /// Stops waiting for a link to a peer.
    mutating func stopConnecting(_ peer: PeerID, on host: Int) {
        hosts[host].connecting.remove(peer)
        if let token = hosts[host].pairing.encryptionTimeouts.removeValue(forKey: peer) { context.queue.cancel(token) }
    }

    /// Answers a connectable packet of a wanted peer; the link is up after the delay.
    mutating func answerPacket(_ ref: Ref<Device>, _ host: Int) {
        guard let peer = devices[ref]?.identity.peers[host] else { return }
        hosts[host].connecting.remove(peer)
        let interval = devices[ref]?.description.connectionInterval ?? context.configuration.connectionInterval
        let delay = context.configuration.connectionDelay.nanoseconds + interval.nanoseconds
        context.queue.schedule(
            .established(host, ref, epoch: hosts[host].adapter.epoch, .requested), at: context.now + delay)
    }

    /// Links another app of the host to a device at once, without a packet, a fault or a question to the handler.
    mutating func connectOtherAppAtOnce(_ peer: PeerID, on host: Int) {
        connect(host, otherApp, peer, OperationID(rawValue: 0), ConnectOptions())
        guard hosts[host].links[peer] == nil, let device = device(peer, on: host) else { return }
        context.queue.schedule(.established(host, device, epoch: hosts[host].adapter.epoch, .granted), at: context.now)
    }

    /// Turns a connect into a link, if the device is present and admits it.
    mutating func established(_ host: Int, _ ref: Ref<Device>, _ epoch: UInt32, _ admission: ConnectAdmission) {
        guard hosts[host].adapter.epoch == epoch else { return }
        guard let device = devices[ref] else { return }
        let peer = device.identity.peers[host]
        guard !hosts[host].ledger.leases(of: peer).isEmpty, hosts[host].links[peer] == nil else { return }
        if let existing = reverseLink(to: ref, from: host) {
            return linkUp(host, ref, peer, links[existing]?.security.level ?? .plain, sharing: existing)
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
        switch securityStart(host, ref) {
        case .secured(let security): linkUp(host, ref, peer, security)
        case .forgotten: failConnect(peer, on: host, .peerRemovedPairingInformation)
        case .silent:
            // The procedure response timeout (Core Specification, Vol 6, Part B, 5.2).
            hosts[host].pairing.encryptionTimeouts[peer] = context.queue.scheduleCancellable(
                .encryptionTimeout(host, peer, epoch: hosts[host].adapter.epoch),
                at: context.now + Duration.seconds(40).nanoseconds)
        }
    }

    /// Returns whether a connect fails, by chance or because a test requested it.
    private mutating func fails(connecting ref: Ref<Device>, to host: Int) -> Bool {
        guard let peer = devices[ref]?.identity.peers[host], let failing = devices[ref]?.faults.failingConnections,
            failing > 0 || context.random.faults.happens(context.configuration.connectionFailureRate)
        else { return false }
        devices[ref]?.faults.failingConnections = max(0, failing - 1)
        failConnect(peer, on: host, .connectionFailed)
        return true
    }

    /// Handles a bonded device that did not start encryption: no link comes up.
    mutating func encryptionTimedOut(_ peer: PeerID, on host: Int, _ epoch: UInt32) {
        guard hosts[host].adapter.epoch == epoch else { return }
        hosts[host].pairing.encryptionTimeouts[peer] = nil
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
        _ host: Int, _ ref: Ref<Device>, _ peer: PeerID, _ security: SecurityLevel, sharing existing: Ref<Link>? = nil
    ) {
        guard let device = devices[ref] else { return }
        let server = device.host.map(maximumMTU(of:)) ?? device.description.maximumMTU
        let mtu = min(server, device.description.maximumMTU, maximumMTU(of: host))
        let link = links.insert(
            Link(
                host: host, device: ref, peer: peer, mtu: mtu,
                timing: LinkTiming(context.configuration, device.description, anchor: context.now),
                security: LinkSecurity(level: security)))
        devices[ref]?.links.append(link)
        showCentral(of: link)
        join(link, to: existing)
        hosts[host].links[peer] = link
        reportOpening(of: link)
        if hosts[host].peers[peer] == nil {
            hosts[host].peers[peer] = KnownPeer(address: device.identity.address)
        }
        hosts[host].peers.noteUse(of: peer)
        for lease in hosts[host].ledger.linkUp(peer) { reportConnected(lease, peer, link) }
        reportConnectionEvent(peer, isConnected: true, on: host)
        handle(.connected(identity(of: link)), at: ref)
        // The host reads the name by itself before anything else.
        enqueue(LinkOperation(manager: otherApp, kind: .deviceName), on: link)
        subscribeForTerminatedApps(on: link)
        resumeBond(on: link)
        pairIfRequested(link)
        welcomeCentral(of: link)
        wake(ref)
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
        managers[manager]?.open(id, Manager.OpenLink(link: link, credits: credits))
        if delay > 0 { context.queue.schedule(.becomeReadyToWrite(manager, id), at: context.now + delay) }
        let parameters = LinkParameters(mtu: mtu, writeCredits: credits)
        context.emit(.connected(peer: peer, link: id, operation: lease.operation, parameters: parameters), to: manager)
    }

    /// Allows write commands on a new link.
    mutating func becomeReadyToWrite(_ manager: Ref<Manager>, _ link: LinkID) {
        let credits = context.configuration.transmitBuffer
        guard managers[manager]?.grantCredits(credits, on: link) == true else { return }
        context.emit(.writeCredits(link: link, count: credits), to: manager)
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
            if let link { closeChannels(of: ref, on: link) }
            let time = link.map(disconnectionTime) ?? context.configuration.disconnectionDelay.nanoseconds
            if let link { isLast ? scheduleLocalClose(link) : pruneSubscriptions(link) }
            guard isManager(ref) else { return }
            managers[ref]?.close(id)
            managers[ref]?.pendingDisconnects[peer] = id
            context.queue.schedule(.reportLocal(ref, id, epoch: hosts[host].adapter.epoch), at: context.now + time)
        }
    }

    mutating func scheduleLocalClose(_ link: Ref<Link>) {
        guard links[link]?.isClosing == false else { return }
        links[link]?.isClosing = true
        context.queue.schedule(.localClose(link), at: context.now + disconnectionTime(of: link))
    }

    /// The time that ending a link takes for this host: at least one connection event, in which the device acknowledges
    /// it.
    ///
    /// Source: Core Specification, Vol 6, Part B, 5.1.6.
    private func disconnectionTime(of link: Ref<Link>) -> Nanoseconds {
        max(context.configuration.disconnectionDelay.nanoseconds, links[link]?.timing.interval ?? 0)
    }

    mutating func reportLocal(_ ref: Ref<Manager>, _ link: LinkID, _ epoch: UInt32) {
        guard let host = managers[ref]?.host, hosts[host].adapter.epoch == epoch,
            let peer = managers[ref]?.pendingDisconnects.first(where: { $0.value == link })?.key
        else { return }
        completeDisconnect(ref, peer)
    }

    /// Delivers the end that a manager requested, if it is not delivered yet.
    private mutating func completeDisconnect(_ ref: Ref<Manager>, _ peer: PeerID) {
        guard let link = managers[ref]?.pendingDisconnects.removeValue(forKey: peer) else { return }
        context.emit(.disconnected(link: link, reason: .local, at: context.date, isReconnecting: false), to: ref)
    }

    /// Ends a link for all managers that lease it, and reconnects for those that requested it.
    mutating func terminate(_ ref: Ref<Link>, reason: DisconnectReason) {
        guard let link = links[ref] else { return }
        if let other = part(ref, reason: reason) { terminate(other, reason: reason.mirrored) }
        let (host, peer) = (link.host, link.peer)
        hosts[host].links[peer] = nil
        drop(ref, reason: reason)
        for lease in hosts[host].ledger.linkDown(peer, isReconnecting: true) {
            let manager = Ref<Manager>(packed: lease.manager)
            guard isManager(manager), let id = lease.link else { continue }
            managers[manager]?.close(id)
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
        abandonPairing(ref)
        leaveServer(ref, reason: reason.ofOtherSide)
        endChannels(of: ref)
        rememberDatabase(of: ref)
        if let other = links[ref]?.other { links[other]?.other = nil }
        guard let link = links.remove(ref) else { return }
        if context.tapped.contains(.links) {
            context.report(.connectionClosed(link: ref.serial, side: .central, reason))
        }
        if let token = link.supervision.timeout { context.queue.cancel(token) }
        if let token = link.server.transactionTimeout { context.queue.cancel(token) }
    }

    /// Ends the server's side of a link, for the device or for the managers of a host.
    ///
    /// - Parameter reason: The reason for the device.
    mutating func leaveServer(_ ref: Ref<Link>, reason: DisconnectReason) {
        guard let device = links[ref]?.device, devices[device]?.links.contains(ref) == true else { return }
        devices[device]?.links.removeAll { $0 == ref }
        closeServerChannels(of: ref)
        rememberCentral(of: ref)
        reportCentralLeft(ref)
        links[ref]?.server.pendingRequest = nil
        links[ref]?.server.subscriptions = [:]
        if context.tapped.contains(.links) {
            context.report(.connectionClosed(link: ref.serial, side: .peripheral, reason))
        }
        handle(.disconnected(identity(of: ref)), at: device)
        wake(device)
    }

    private mutating func reportConnectionEvent(_ peer: PeerID, isConnected: Bool, on host: Int) {
        let database = device(peer, on: host).flatMap { devices[$0]?.server.database }
        for manager in hosts[host].managers {
            guard let filter = managers[manager]?.connectionEventFilter,
                database?.offers(filter.services) == true || filter.peers.contains(peer)
            else { continue }
            context.emit(.connectionEvent(peer: peer, isConnected: isConnected), to: manager)
        }
    }

    // MARK: Out of range

    /// Starts or ends the silence on a device's links.
    mutating func rangeChanged(_ ref: Ref<Device>) {
        guard let device = devices[ref] else { return }
        for link in device.links { device.signal.isInRange ? hearAgain(link) : fallSilent(link) }
        if device.signal.isInRange { wake(ref) }
    }

    /// Makes a link silent: no packet arrives, and the link ends unless the device returns in time.
    mutating func fallSilent(_ ref: Ref<Link>) {
        guard links[ref]?.supervision.isSilent == false, let timeout = links[ref]?.timing.supervisionTimeout else {
            return
        }
        let token = context.queue.scheduleCancellable(.supervision(ref), at: context.now + timeout)
        links[ref]?.supervision.fallSilent(until: token)
        if let other = links[ref]?.other { fallSilent(other) }
    }

    private mutating func hearAgain(_ ref: Ref<Link>) {
        guard let link = links[ref], link.supervision.isSilent, !link.supervision.isLost,
            let (missed, timeout) = links[ref]?.supervision.recover()
        else { return }
        if let timeout { context.queue.cancel(timeout) }
        for event in missed { context.queue.schedule(event, at: link.timing.connectionEvent(from: context.now)) }
        if let other = link.other { hearAgain(other) }
    }

    /// Defers an event of a silent link.
    ///
    /// - Returns: Whether the link is silent.
    mutating func isMissed(_ event: WorldEvent, on ref: Ref<Link>) -> Bool {
        links[ref]?.supervision.misses(event) == true
    }

    mutating func supervisionExpired(_ ref: Ref<Link>) {
        links[ref]?.supervision.timeout = nil
        terminate(ref, reason: .timeout)
    }
}
