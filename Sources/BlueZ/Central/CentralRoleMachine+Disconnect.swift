#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import DequeModule

/// Disconnecting, and links that end by themselves.
extension CentralRoleMachine {
    mutating func disconnect(_ manager: HostLedger.Manager, _ peer: PeerID) {
        releaseLink(manager, peer, isSilent: false)
    }

    /// A manager gives up its wish for a link, or its share of one.
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

    /// Nobody holds the link any more.
    mutating func endLink(_ peer: PeerID) {
        guard let link = links[peer] else { return }
        stopNotifying(link)
        links[peer]?.notifying = []
        links[peer]?.isClosing = true
        links[peer]?.waiting = []
        // A link that went already is only waiting for its explanation.
        if link.isDown { return finishLinkDown(peer) }
        // Another program's link is left alone.
        guard link.isOurs else { return finishLinkDown(peer) }
        _ = call(.disconnect(peer), link.path, Device1.interface, "Disconnect", deadline: timings.disconnect)
    }

    /// Ends a link that its peer does not serve.
    mutating func abandonLink(_ peer: PeerID, reason: DisconnectReason) {
        guard let link = links[peer], !link.isClosing else { return }
        links[peer]?.reason = reason
        _ = call(.disconnect(peer), link.path, Device1.interface, "Disconnect", deadline: timings.disconnect)
    }

    /// BlueZ pitfall: some daemons never answer (https://github.com/bluez/bluez/issues/947): what was asked to end
    /// counts as ended.
    ///
    /// A success may come before the signal of the end, and then waits for it.
    mutating func disconnectReplied(_ peer: PeerID, _ error: DBusError?) {
        guard let link = links[peer], link.isClosing || link.reason != nil else { return }
        if let error { log(.debug, "Disconnect of \(peer): \(error)") }
        guard error == nil, objects.devices[link.path]?.isConnected == true else { return finishLinkDown(peer) }
        start(.linkLoss(peer), timings.linkLoss)
    }

    mutating func noteReason(_ path: ObjectPath, _ reason: String) {
        tellsDisconnectReasons = true
        guard let peer = directory.peer(at: path), links[peer] != nil, links[peer]?.reason == nil else { return }
        switch reason {
        case "org.bluez.Reason.Timeout": links[peer]?.reason = .timeout
        case "org.bluez.Reason.Remote": links[peer]?.reason = .remote
        case "org.bluez.Reason.Authentication": links[peer]?.reason = .authentication
        // Local: another program on this host ended it, or power goes; our own ends have no holder to be told.
        default: break
        }
    }

    /// `Connected` is false.
    ///
    /// Unless its reason is known, the end waits for a loss of power (S12).
    mutating func linkDown(_ peer: PeerID) {
        guard let link = links[peer], !link.isDown else { return }
        links[peer]?.isDown = true
        guard !link.isClosing, link.reason == nil else { return finishLinkDown(peer) }
        start(.powerLoss(peer), timings.powerLoss)
    }

    mutating func finishLinkDown(_ peer: PeerID) {
        guard let link = links.removeValue(forKey: peer) else { return }
        forget(linkTimersOf: peer)
        stopNotifying(link)
        for (call, purpose) in calls {
            if case .operation(peer) = purpose { calls[call] = nil }
        }
        endChannels(to: peer)
        closeSockets(of: peer)
        let reason = link.isClosing ? .local : link.reason ?? .unknown
        let isUnexpected = !link.isClosing
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
            .powerLoss(peer), .serviceChanges(peer),
        ] { stop(timer) }
    }
}
#endif
