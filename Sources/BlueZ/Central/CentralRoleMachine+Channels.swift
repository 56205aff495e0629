#if os(Linux)
import BluetoothBackend

/// L2CAP channels of links.
extension CentralRoleMachine {
    /// Begins to open a channel over the link that `bluetoothd` holds.
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
            links[peer]?.ending.isDown == false, ledger.peer(of: operation.link) != nil
        else {
            // The link or its operation is gone.
            if case .success(let opening) = result { perform(.abort, on: opening.channel) }
            for peer in links.keys where links[peer]?.inFlight.isEmpty == true { runOperations(peer) }
            return
        }
        switch result {
        case .success(let opening):
            channels[opening.channel] = OpenChannel(manager: operation.manager, origin: peer)
            respond(operation, .channel(opening.channel, credits: opening.credits))
        case .failure(let error): fail(operation, error)
        }
        runOperations(peer)
    }

    /// Closes the channels of a manager that releases its lease; data that it has sent is still transmitted.
    mutating func closeChannels(of manager: HostLedger.Manager, to peer: PeerID) {
        let own = OpenChannel(manager: manager, origin: peer)
        for channel in channels(where: { $0 == own }) { use(channel, .close, by: manager) }
    }

    /// Ends the channels of a link that is gone; data that was received before is delivered.
    mutating func endChannels(to peer: PeerID) {
        for channel in channels(where: { $0.origin == peer }) {
            perform(.readRest, on: channel)
            channels[channel] = nil
        }
    }
}
#endif
