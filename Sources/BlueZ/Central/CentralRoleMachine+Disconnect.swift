#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import DequeModule

/// Disconnects, and handles links that end by themselves.
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
        // A link that is down already only waits for its explanation.
        if link.ending.isDown { return finishLinkDown(peer) }
        // Another program's link is not ended.
        guard link.isOurs else { return finishLinkDown(peer) }
        call(.disconnect(peer), link.path, Device1.interface, "Disconnect", deadline: timings.disconnect)
    }

    /// Ends a link whose peer does not respond as it must.
    mutating func abandonLink(_ peer: PeerID, reason: DisconnectReason) {
        guard let link = links[peer], !link.ending.isClosing else { return }
        links[peer]?.ending.reason = reason
        call(.disconnect(peer), link.path, Device1.interface, "Disconnect", deadline: timings.disconnect)
    }

    /// Handles the reply of `Disconnect`.
    ///
    /// BlueZ pitfall: some daemons never answer (https://github.com/bluez/bluez/issues/947): after the deadline, the
    /// link counts as ended.
    ///
    /// A success may arrive before the signal of the end; the end then waits for the signal.
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
        // Local: another program on this host ended it, or power is lost; ends by this process have no holder to
        // notify.
        default: break
        }
    }

    /// Handles that `Connected` became false.
    ///
    /// Values that the daemon has written to sockets for notifications are read first.
    mutating func linkDown(_ peer: PeerID) {
        guard let link = links[peer], !link.ending.isDown else { return }
        links[peer]?.ending.isDown = true
        for socket in link.notificationSockets { perform(.finish, onNotificationSocket: socket) }
        explainLinkDown(peer)
    }

    /// Ends a link that is down, once its sockets for notifications have been read.
    ///
    /// If its reason is unknown, the end waits for a loss of power (S12).
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
        for lease in ledger.linkDown(peer, isReconnecting: isUnexpected) {
            guard let id = lease.link else { continue }
            let isReconnecting = isUnexpected && lease.options.autoReconnect
            deliver(
                lease.manager,
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
