#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import DequeModule

/// Disconnecting, and links that end by themselves.
extension CentralRoleMachine {
    /// Releases a manager's pending connect, or its lease of a link.
    mutating func releaseLink(_ manager: HostLedger.Manager, _ peer: PeerID, isSilent: Bool) {
        switch ledger.disconnect(manager, from: peer) {
        case .nothing: break
        case .withdrawn(let isLast):
            guard isLast else { return }
            stop(.connectRetry(peer))
            stop(.foreignLinkGrace(peer))
            if connects.remove(peer) { cancelConnect(peer) }
            connectNext()
        case .closed(let link, let isLast):
            closeChannels(of: manager, to: peer)
            if !isSilent {
                deliver(manager, .disconnected(link: link, reason: .local, at: date, isReconnecting: false))
            }
            if isLast { endLink(peer) } else { endIdleSubscriptions(peer) }
        }
    }

    /// Ends a link that no manager holds.
    mutating func endLink(_ peer: PeerID) {
        guard let link = links[peer] else { return }
        stopNotifying(link)
        links[peer]?.subscriptions = [:]
        links[peer]?.ending.isClosing = true
        links[peer]?.waiting = []
        // A link that went already is only waiting for its explanation.
        if link.ending.isDown { return finishLinkDown(peer) }
        // Another program's link is left alone.
        guard link.isOurs else { return finishLinkDown(peer) }
        call(.disconnect(peer), link.path, Device1.interface, "Disconnect", deadline: timings.disconnect)
    }

    /// Ends a link that its peer does not serve.
    mutating func abandonLink(_ peer: PeerID, reason: DisconnectReason) {
        guard let link = links[peer], !link.ending.isClosing else { return }
        links[peer]?.ending.reason = reason
        call(.disconnect(peer), link.path, Device1.interface, "Disconnect", deadline: timings.disconnect)
    }

    /// BlueZ pitfall: some daemons never answer (https://github.com/bluez/bluez/issues/947): what was asked to end
    /// counts as ended.
    ///
    /// A success may come before the signal of the end, and then waits for it.
    mutating func disconnectReplied(_ peer: PeerID, _ error: DBusError?) {
        guard let link = links[peer], link.ending.isClosing || link.ending.reason != nil else { return }
        if let error { log(.debug, "Disconnect of \(peer): \(error)") }
        guard error == nil, objects.devices[link.path]?.isConnected == true else { return finishLinkDown(peer) }
        start(.linkLoss(peer), timings.linkLoss)
    }

    mutating func noteReason(_ path: ObjectPath, _ reason: String) {
        guard let peer = directory.peer(at: path), links[peer] != nil, links[peer]?.ending.reason == nil else { return }
        switch reason {
        case "org.bluez.Reason.Timeout": links[peer]?.ending.reason = .timeout
        case "org.bluez.Reason.Remote": links[peer]?.ending.reason = .remote
        case "org.bluez.Reason.Authentication": links[peer]?.ending.reason = .authentication
        // Local: another program on this host ended it, or power goes; our own ends have no holder to be notified.
        default: break
        }
    }

    /// `Connected` is false.
    ///
    /// The values that the daemon has written on sockets for notifications are read first.
    mutating func linkDown(_ peer: PeerID) {
        guard let link = links[peer], !link.ending.isDown else { return }
        links[peer]?.ending.isDown = true
        for socket in link.notificationSockets { perform(.finish, onNotificationSocket: socket) }
        explainLinkDown(peer)
    }

    /// Ends a link that is down, once its sockets for notifications were read.
    ///
    /// Unless its reason is known, the end waits for a loss of power (S12).
    mutating func explainLinkDown(_ peer: PeerID) {
        guard let link = links[peer], link.notificationSockets.isEmpty else { return }
        guard !link.ending.isClosing, link.ending.reason == nil else { return finishLinkDown(peer) }
        start(.powerLoss(peer), watch.waitForExplanation(objects.adapters, usually: timings.powerLoss))
    }

    mutating func finishLinkDown(_ peer: PeerID) {
        guard let link = links.removeValue(forKey: peer) else { return }
        forget(linkTimersOf: peer)
        stopNotifying(link)
        endChannels(to: peer)
        closeWriteSocket(of: link)
        let reason = link.ending.isClosing ? .local : link.ending.reason ?? .unknown
        let isUnexpected = !link.ending.isClosing
        for share in ledger.linkDown(peer, isReconnecting: isUnexpected) {
            guard let id = share.link else { continue }
            let isReconnecting = isUnexpected && share.options.autoReconnect
            deliver(
                share.manager,
                .disconnected(link: id, reason: reason, at: date, isReconnecting: isReconnecting))
        }
        guard !ledger.leases(of: peer).isEmpty else { return }
        connects.linkEnded(peer)
        initiateConnection(peer)
    }

    mutating func forget(linkTimersOf peer: PeerID) {
        for timer in [
            CentralTimer.resolution(peer), .awaitingServices(peer), .draining(peer), .attributeRetry(peer),
            .linkLoss(peer),
            .powerLoss(peer), .serviceChanges(peer), .closedSockets(peer),
        ] { stop(timer) }
    }
}
#endif
