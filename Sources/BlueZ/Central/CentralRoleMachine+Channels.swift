#if os(Linux)
import BluetoothBackend

/// L2CAP channels: who opens them, whose they are, and when they end.
extension CentralRoleMachine {
    /// A channel that a manager opened.
    struct OpenChannel: Equatable, Sendable {
        let manager: HostLedger.Manager
        let peer: PeerID
    }

    /// Begins to open a channel, over the link that `bluetoothd` holds.
    mutating func openChannel(_ psm: UInt16, _ peer: PeerID, _ operation: LinkState.Operation) {
        guard let adapter = adapter.flatMap({ objects.adapters[$0] }), let record = directory[peer],
            let local = L2CAPAddress(adapter.address, isRandom: adapter.isRandom),
            let remote = L2CAPAddress(record.address, isRandom: record.isRandom, psm: psm)
        else {
            return fail(
                operation,
                BackendError(.unknown, operation: "open channel \(psm)", message: "an address makes no sense"))
        }
        outputs.effects.append(.openChannel(newCall(for: operation, of: peer), from: local, to: remote))
    }

    mutating func channelReplied(_ id: CallID, _ result: Result<ChannelPool.Opening, BackendError>) {
        guard let peer = id.peer, let operation = links[peer]?.inFlight.removeValue(forKey: id),
            let answer = operation.command.operation,
            links[peer]?.ending.isDown == false, ledger.peer(of: operation.link) != nil
        else {
            // The link or its operation is gone.
            if case .success(let opening) = result { perform(.abort, on: opening.channel) }
            return resumeOperations(after: id)
        }
        switch result {
        case .success(let opening):
            channels[opening.channel] = OpenChannel(manager: operation.manager, peer: peer)
            deliver(
                operation.manager,
                .response(link: operation.link, operation: answer, .channel(opening.channel, credits: opening.credits)))
        case .failure(let error): fail(operation, error)
        }
        runOperations(peer)
    }

    /// Starts what waited for a channel whose operation is gone.
    private mutating func resumeOperations(after id: CallID) {
        for peer in links.keys where links[peer]?.inFlight.isEmpty == true { runOperations(peer) }
    }

    /// A manager uses its channel, or closes it.
    mutating func use(_ channel: ChannelID, _ command: ChannelCommand, by manager: HostLedger.Manager) {
        guard channels[channel]?.manager == manager else { return }
        perform(.command(command), on: channel)
        if command == .close { channels[channel] = nil }
    }

    mutating func channelEnded(_ channel: ChannelID) {
        guard let owner = channels.removeValue(forKey: channel) else { return }
        deliver(owner.manager, .channel(channel, .closed))
    }

    // MARK: The end of links and managers

    /// A manager gives up its share of a link: what it sent on its channels still goes over.
    mutating func closeChannels(of manager: HostLedger.Manager, to peer: PeerID) {
        for channel in channels.keys.sorted() where channels[channel] == OpenChannel(manager: manager, peer: peer) {
            use(channel, .close, by: manager)
        }
    }

    /// A link is gone, and with it its channels; what came before that is delivered.
    mutating func endChannels(to peer: PeerID) {
        for channel in channels.keys.sorted() where channels[channel]?.peer == peer {
            perform(.readRest, on: channel)
            channels[channel] = nil
        }
    }

    /// Power went; the state's event says so for all channels.
    mutating func abortChannels() {
        for channel in channels.keys.sorted() { perform(.abort, on: channel) }
        channels = [:]
    }
}
#endif
