import BluetoothBackend
import BluetoothSupport

// The life of links, from the wish to the end.
extension World {
    /// The number under which the ledger keeps another app of the host; no manager has it.
    var otherApp: Ref<Manager> { Ref(slot: .max, serial: 0) }

    private func isManager(_ ref: Ref<Manager>) -> Bool { ref.slot != .max }

    // MARK: Up

    /// Notes a wish for a link and answers the peer's next connectable packet, however long that takes.
    mutating func connect(
        _ host: Int, _ ref: Ref<Manager>, _ peer: PeerID, _ operation: OperationID, _ options: ConnectOptions
    ) {
        // A peer that the host has forgotten is recognized by its next packet.
        hosts[host].peers.noteUse(of: peer)
        if let link = hosts[host].links[peer], let old = managers[ref]?.id(of: link) { managers[ref]?.close(old) }
        switch hosts[host].ledger.connect(ref.packed, to: peer, operation: operation, options: options) {
        case .connect: startDialing(peer, on: host)
        case .wait: break
        case .linked(let lease):
            guard let link = hosts[host].links[peer] else { return }
            tellConnected(lease, peer, link)
        }
    }

    mutating func startDialing(_ peer: PeerID, on host: Int) {
        hosts[host].connecting.insert(peer)
        openServer(behind: peer, of: host)
        guard let device = devices.refsInAnyOrder.first(where: { devices[$0]?.identities[host] == peer }) else {
            return
        }
        guard standingLink(to: device, from: host) != nil else { return wake(device) }
        hosts[host].connecting.remove(peer)
        queue.schedule(.established(host, device, epoch: hosts[host].epoch, isAdmitted: true), at: now)
    }

    /// A connectable packet of a wanted peer was heard: the link will be there after its delay.
    mutating func answerPacket(_ ref: Ref<Device>, _ host: Int) {
        guard let peer = devices[ref]?.identities[host] else { return }
        hosts[host].connecting.remove(peer)
        let interval = devices[ref]?.connectionInterval ?? configuration.connectionInterval
        let delay = configuration.connectionDelay.nanoseconds + interval.nanoseconds
        queue.schedule(.established(host, ref, epoch: hosts[host].epoch, isAdmitted: false), at: now + delay)
    }

    mutating func established(_ host: Int, _ ref: Ref<Device>, _ epoch: UInt32, isAdmitted: Bool) {
        guard hosts[host].epoch == epoch else { return }
        guard let device = devices[ref] else { return }
        let peer = device.identities[host]
        guard !hosts[host].ledger.leases(of: peer).isEmpty, hosts[host].links[peer] == nil else { return }
        if let standing = standingLink(to: ref, from: host) {
            return linkUp(host, ref, peer, links[standing]?.security ?? .plain, sharing: standing)
        }
        guard device.isPresent,
            device.links.isEmpty || device.sets.contains(where: \.description.continuesWhileConnected)
        else { return startDialing(peer, on: host) }
        hosts[host].connecting.remove(peer)
        if device.failingConnections > 0 || faultRandom.happens(configuration.connectionFailureRate) {
            devices[ref]?.failingConnections = max(0, device.failingConnections - 1)
            return failConnect(peer, on: host, .connectionFailed)
        }
        guard isAdmitted || !meetsFault(connecting: ref, to: host) else { return }
        switch securityStart(host, ref) {
        case .secured(let security): linkUp(host, ref, peer, security)
        case .forgotten: failConnect(peer, on: host, .peerRemovedPairingInformation)
        case .silent:
            // The procedure response timeout (Core Specification, Vol 6, Part B, 5.2).
            queue.schedule(
                .encryptionTimeout(host, ref, epoch: hosts[host].epoch), at: now + Duration.seconds(40).nanoseconds)
        }
    }

    /// A bonded device did not start encryption: there will be no link.
    mutating func encryptionTimedOut(_ ref: Ref<Device>, on host: Int, _ epoch: UInt32) {
        guard let peer = devices[ref]?.identities[host], hosts[host].epoch == epoch, hosts[host].links[peer] == nil,
            !hosts[host].connecting.contains(peer)
        else {
            return
        }
        failConnect(peer, on: host, .encryptionTimedOut)
    }

    mutating func failConnect(_ peer: PeerID, on host: Int, _ code: BackendError.Code) {
        let error = BackendError(code, operation: "connect")
        failPairingWishes(peer, on: host, error)
        for lease in hosts[host].ledger.connectFailed(peer) {
            let manager = Ref<Manager>(packed: lease.manager)
            guard isManager(manager) else { continue }
            emit(.connectFailed(peer: peer, operation: lease.operation, error: error), to: manager)
        }
    }

    private mutating func linkUp(
        _ host: Int, _ ref: Ref<Device>, _ peer: PeerID, _ security: LinkSecurity, sharing standing: Ref<Link>? = nil
    ) {
        guard let device = devices[ref] else { return }
        let link = links.insert(
            Link(
                host: host, device: ref, peer: peer,
                interval: (device.connectionInterval ?? configuration.connectionInterval).nanoseconds,
                supervisionTimeout: (device.supervisionTimeout ?? configuration.supervisionTimeout).nanoseconds,
                anchor: now, mtu: max(23, min(device.maximumMTU, configuration.maximumMTU))))
        devices[ref]?.links.append(link)
        links[link]?.latency = device.latency
        links[link]?.security = security
        showCentral(of: link)
        join(link, to: standing)
        hosts[host].links[peer] = link
        if hosts[host].peers[peer] == nil {
            hosts[host].peers[peer] = Host.KnownPeer(address: device.address)
        }
        hosts[host].peers.noteUse(of: peer)
        for lease in hosts[host].ledger.linkUp(peer) { tellConnected(lease, peer, link) }
        tellConnectionEvent(peer, isConnected: true, on: host)
        handle(.connected(identity(of: link)), at: ref)
        // The host reads the name by itself, before anything else.
        let nameRead = LinkOperation(
            manager: otherApp, link: LinkID(rawValue: 0), operation: OperationID(rawValue: 0), kind: .deviceName)
        enqueue(nameRead, on: link)
        subscribeForTerminatedApps(on: link)
        resumeBond(on: link)
        pairIfRequested(link)
        welcomeCentral(of: link)
        wake(ref)
    }

    private mutating func tellConnected(_ lease: HostLedger.LinkLease, _ peer: PeerID, _ link: Ref<Link>) {
        let manager = Ref<Manager>(packed: lease.manager)
        guard isManager(manager), let id = lease.link, let mtu = links[link]?.mtu else { return }
        // A link that others kept is there again at once: its earlier end comes before.
        sayFarewell(manager, peer)
        let delay = configuration.writeReadinessDelay.nanoseconds
        let credits = delay > 0 ? 0 : configuration.transmitBuffer
        managers[manager]?.open(id, Manager.OpenLink(link: link, credits: credits))
        if delay > 0 { queue.schedule(.becomeReadyToWrite(manager, id), at: now + delay) }
        let parameters = LinkParameters(mtu: mtu, writeCredits: credits)
        emit(.connected(peer: peer, link: id, operation: lease.operation, parameters: parameters), to: manager)
    }

    /// A new link takes write commands from now on.
    mutating func becomeReadyToWrite(_ manager: Ref<Manager>, _ link: LinkID) {
        let credits = configuration.transmitBuffer
        guard managers[manager]?.grantCredits(credits, on: link) == true else { return }
        emit(.writeCredits(link: link, count: credits), to: manager)
    }

    /// The central of a link, as the device knows it.
    func identity(of link: Ref<Link>) -> CentralIdentity {
        guard let host = links[link]?.host, let mtu = links[link]?.mtu else {
            return CentralIdentity(host: "", address: DeviceAddress(bits: 0), mtu: 23)
        }
        return CentralIdentity(
            host: hosts[host].name, address: links[link]?.centralAddress ?? hosts[host].address, mtu: mtu)
    }

    // MARK: Down

    /// A manager gives up its wish or its share.
    mutating func disconnect(_ host: Int, _ ref: Ref<Manager>, _ peer: PeerID) {
        switch hosts[host].ledger.disconnect(ref.packed, from: peer) {
        case .nothing: break
        case .withdrawn(let isLast):
            if isLast { hosts[host].connecting.remove(peer) }
        case .closed(let id, let isLast):
            let link = hosts[host].links[peer]
            if let link { closeChannels(of: ref, on: link) }
            if let link { isLast ? scheduleLocalClose(link) : pruneSubscriptions(link) }
            guard isManager(ref) else { return }
            managers[ref]?.close(id)
            managers[ref]?.pendingDisconnects[peer] = id
            queue.schedule(
                .tellLocal(ref, id, epoch: hosts[host].epoch), at: now + configuration.disconnectionDelay.nanoseconds)
        }
    }

    mutating func scheduleLocalClose(_ link: Ref<Link>) {
        guard links[link]?.isClosing == false else { return }
        links[link]?.isClosing = true
        queue.schedule(.localClose(link), at: now + configuration.disconnectionDelay.nanoseconds)
    }

    mutating func tellLocal(_ ref: Ref<Manager>, _ link: LinkID, _ epoch: UInt32) {
        guard let host = managers[ref]?.host, hosts[host].epoch == epoch,
            let peer = managers[ref]?.pendingDisconnects.first(where: { $0.value == link })?.key
        else { return }
        sayFarewell(ref, peer)
    }

    /// Tells a manager of the end that it asked for, if that was not done.
    private mutating func sayFarewell(_ ref: Ref<Manager>, _ peer: PeerID) {
        guard let link = managers[ref]?.pendingDisconnects.removeValue(forKey: peer) else { return }
        emit(.disconnected(link: link, reason: .local, at: date, isReconnecting: false), to: ref)
    }

    /// The host's own end of a link that nobody wants any more.
    mutating func localClose(_ link: Ref<Link>) {
        terminate(link, reason: .local)
    }

    /// Ends a link and tells who held it; dials again for those who want it back.
    mutating func terminate(_ ref: Ref<Link>, reason: DisconnectReason) {
        guard let link = links[ref] else { return }
        if let other = part(ref, reason: reason) { terminate(other, reason: reason.mirrored) }
        let (host, peer) = (link.host, link.peer)
        hosts[host].links[peer] = nil
        drop(ref)
        for lease in hosts[host].ledger.linkDown(peer, isReconnecting: true) {
            let manager = Ref<Manager>(packed: lease.manager)
            guard isManager(manager), let id = lease.link else { continue }
            managers[manager]?.close(id)
            let told = hosts[host].features.contains(.disconnectReason) || reason == .local ? reason : .unknown
            emit(
                .disconnected(link: id, reason: told, at: date, isReconnecting: lease.options.autoReconnect),
                to: manager)
        }
        tellConnectionEvent(peer, isConnected: false, on: host)
        if !hosts[host].ledger.leases(of: peer).isEmpty { startDialing(peer, on: host) }
    }

    /// Removes a link from the world and from its device.
    mutating func drop(_ ref: Ref<Link>) {
        abandonPairing(ref)
        leaveServer(ref)
        endChannels(of: ref)
        rememberDatabase(of: ref)
        if let other = links[ref]?.other { links[other]?.other = nil }
        guard let link = links.remove(ref) else { return }
        if let token = link.supervision { queue.cancel(token) }
        if let token = link.transactionTimeout { queue.cancel(token) }
    }

    /// The server's end of a link is over, for the device or for the managers of a host.
    mutating func leaveServer(_ ref: Ref<Link>) {
        guard let device = links[ref]?.device, devices[device]?.links.contains(ref) == true else { return }
        devices[device]?.links.removeAll { $0 == ref }
        closeServerChannels(of: ref)
        rememberCentral(of: ref)
        tellCentralLeft(ref)
        links[ref]?.pendingRequest = nil
        links[ref]?.subscriptions = [:]
        handle(.disconnected(identity(of: ref)), at: device)
        wake(device)
    }

    private mutating func tellConnectionEvent(_ peer: PeerID, isConnected: Bool, on host: Int) {
        let device = devices.refsInAnyOrder.first { devices[$0]?.identities[host] == peer }
        for manager in hosts[host].managers {
            guard let filter = managers[manager]?.connectionEventFilter else { continue }
            let offers = filter.services.contains { uuid in
                guard let device, let database = devices[device]?.database else { return false }
                return database.services.contains { database[$0]?.uuid == uuid }
            }
            guard offers || filter.peers.contains(peer) else { continue }
            emit(.connectionEvent(peer: peer, isConnected: isConnected), to: manager)
        }
    }

    // MARK: Out of range

    /// Begins or ends the silence of a device's links.
    mutating func rangeChanged(_ ref: Ref<Device>) {
        guard let device = devices[ref] else { return }
        for link in device.links { device.isInRange ? speak(link) : fallSilent(link) }
        if device.isInRange { wake(ref) }
    }

    /// Nothing is heard on a link from now on: it dies unless the device comes back in time.
    mutating func fallSilent(_ ref: Ref<Link>) {
        guard links[ref]?.isSilent == false, let timeout = links[ref]?.supervisionTimeout else { return }
        links[ref]?.isSilent = true
        let token = queue.scheduleCancellable(.supervision(ref), at: now + timeout)
        links[ref]?.supervision = token
        if let other = links[ref]?.other { fallSilent(other) }
    }

    private mutating func speak(_ ref: Ref<Link>) {
        guard let link = links[ref], link.isSilent, !link.isLost else { return }
        links[ref]?.isSilent = false
        links[ref]?.missed = []
        if let token = link.supervision { queue.cancel(token) }
        links[ref]?.supervision = nil
        for event in link.missed { queue.schedule(event, at: link.connectionEvent(from: now)) }
        if let other = link.other { speak(other) }
    }

    /// Keeps what is due on a silent link for later.
    ///
    /// - Returns: Whether the link is silent.
    mutating func isMissed(_ event: WorldEvent, on ref: Ref<Link>) -> Bool {
        links[ref]?.misses(event) == true
    }

    mutating func supervisionExpired(_ ref: Ref<Link>) {
        links[ref]?.supervision = nil
        terminate(ref, reason: .timeout)
    }
}
