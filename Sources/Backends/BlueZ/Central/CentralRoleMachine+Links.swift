#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// The links: their holders use them and release them, and they are removed when they have ended.
extension CentralRoleMachine {
    /// Lets a link handle something, and removes the link if that ends it; does nothing without a link.
    mutating func update(_ peer: PeerID, _ body: (inout CentralLink, inout CentralContext) -> Void) {
        guard let link = links.index(forKey: peer) else { return }
        if Self.isOver(&links.values[link], after: body, &context) { removeLink(peer) }
    }

    /// Returns whether a link is over after `body`; in place, because a dictionary copies a whole link to read a part.
    private static func isOver(
        _ link: inout CentralLink, after body: (inout CentralLink, inout CentralContext) -> Void,
        _ context: inout CentralContext
    ) -> Bool {
        body(&link, &context)
        return link.ending.isOver
    }

    /// Lets the link of the device at a path handle something.
    mutating func update(at device: ObjectPath, _ body: (inout CentralLink, inout CentralContext) -> Void) {
        if let peer = directory.peer(at: device) { update(peer, body) }
    }

    /// Passes a command on to its link.
    mutating func enqueue(_ command: CentralCommand, from manager: HostLedger.Manager) {
        guard let link = command.link, let peer = context.ledger.peer(of: link) else { return }
        let operation = CentralLink.Operation(manager: manager, link: link, command: command)
        update(peer) { $0.enqueue(operation, &$1) }
    }

    mutating func channelReplied(_ id: CallID, _ result: Result<ChannelPool.Opening, BackendError>) {
        guard let peer = id.peer, links.index(forKey: peer) != nil else {
            // The link is gone.
            if case .success(let opening) = result { perform(.abort, on: opening.channel) }
            return
        }
        update(peer) { $0.channelReplied(id, result, &$1) }
    }

    /// Releases a manager's pending connect, or its lease of a link.
    mutating func releaseLink(_ manager: HostLedger.Manager, _ peer: PeerID, isSilent: Bool) {
        switch context.ledger.disconnect(manager, from: peer) {
        case .nothing: break
        case .withdrawn(let isLast):
            guard isLast else { return }
            stop(.connectRetry(peer))
            stop(.foreignLinkGrace(peer))
            connects.remove(peer)
            connectNext()
        case .closed(let link, let isLast):
            closeChannels(of: manager, to: peer)
            if !isSilent {
                let date = context.date
                deliver(manager, .disconnected(link: link, reason: .local, at: date, isReconnecting: false))
            }
            update(peer) { isLast ? $0.close(&$1) : $0.endIdleSubscriptions(&$1) }
        }
    }

    /// Closes the channels of a manager that releases its lease; data that it has sent is still transmitted.
    private mutating func closeChannels(of manager: HostLedger.Manager, to peer: PeerID) {
        let own = OpenChannel(manager: manager, origin: peer)
        for channel in channels(where: { $0 == own }) { use(channel, .close, by: manager) }
    }

    /// Removes a link that has ended, and connects again if a manager wants that.
    mutating func removeLink(_ peer: PeerID) {
        guard var link = links.removeValue(forKey: peer) else { return }
        link.end(&context)
        guard !context.ledger.leases(of: peer).isEmpty else { return }
        connects.linkEnded(peer)
        initiateConnection(peer)
    }
}
#endif
