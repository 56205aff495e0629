#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// L2CAP channels that centrals open: who listens, whose they are, and when they end.
extension PeripheralRoleMachine {
    /// A channel that a central opened.
    struct OpenChannel: Equatable, Sendable {
        let manager: HostLedger.Manager
        let psm: UInt16
    }

    /// The L2CAP channels of the role.
    struct Channels: Sendable {
        /// Who listens for channels of a number.
        struct Listener: Sendable {
            let manager: HostLedger.Manager
            let isEncryptionRequired: Bool
        }

        var listeners: [UInt16: Listener] = [:]
        var open: [ChannelID: OpenChannel] = [:]
    }

    // MARK: Listening

    mutating func publishChannel(
        _ manager: HostLedger.Manager, _ operation: OperationID, isEncryptionRequired: Bool
    ) {
        guard let adapter, let local = L2CAPAddress(adapter.address, isRandom: adapter.isRandom)
        else {
            let error = BackendError(.unknown, operation: "publish channel", message: "an address makes no sense")
            return deliver(manager, .operationFailed(operation: operation, error: error))
        }
        perform(.listen(manager, operation, local, isEncryptionRequired: isEncryptionRequired))
    }

    mutating func listening(
        _ manager: HostLedger.Manager, _ operation: OperationID, _ result: Result<UInt16, BackendError>,
        isEncryptionRequired: Bool
    ) {
        switch result {
        case .success(let psm):
            // The manager or the power is gone.
            guard managers[manager] != nil, state == .poweredOn else { return perform(.stopListening(psm)) }
            channels.listeners[psm] = Channels.Listener(manager: manager, isEncryptionRequired: isEncryptionRequired)
            deliver(manager, .channelPublished(operation: operation, psm: psm))
        case .failure(let error): deliver(manager, .operationFailed(operation: operation, error: error))
        }
    }

    /// Listens no more; the channels of that number close (S154).
    mutating func unpublishChannel(_ manager: HostLedger.Manager, _ operation: OperationID, _ psm: UInt16) {
        guard channels.listeners[psm]?.manager == manager else {
            let error = BackendError(.invalidParameters, operation: "unpublish channel \(psm)")
            return deliver(manager, .operationFailed(operation: operation, error: error))
        }
        stopListening(psm)
        for (id, channel) in channels.open.sorted(by: { $0.key < $1.key }) where channel.psm == psm {
            perform(.channel(id, .command(.close)))
            channelEnded(id)
        }
        deliver(manager, .channelUnpublished(operation: operation, psm: psm))
    }

    private mutating func stopListening(_ psm: UInt16) {
        channels.listeners[psm] = nil
        perform(.stopListening(psm))
    }

    // MARK: Channels

    mutating func accepted(_ psm: UInt16, _ opening: ChannelPool.Opening, from address: L2CAPAddress) {
        guard let manager = channels.listeners[psm]?.manager, let peer = central(at: address) else {
            return perform(.channel(opening.channel, .abort))
        }
        channels.open[opening.channel] = OpenChannel(manager: manager, psm: psm)
        deliver(
            manager,
            .channelOpened(channel: opening.channel, psm: psm, central: peer, credits: opening.credits))
    }

    mutating func use(_ channel: ChannelID, _ command: ChannelCommand, by manager: HostLedger.Manager) {
        guard channels.open[channel]?.manager == manager else { return }
        perform(.channel(channel, .command(command)))
        if command == .close { channels.open[channel] = nil }
    }

    mutating func channelEnded(_ channel: ChannelID) {
        guard let owner = channels.open.removeValue(forKey: channel) else { return }
        deliver(owner.manager, .channel(channel, .closed))
    }

    /// Power went; the state's event says so for all channels.
    mutating func abortChannels() {
        for channel in channels.open.keys.sorted() { perform(.channel(channel, .abort)) }
        for psm in channels.listeners.keys.sorted() { stopListening(psm) }
        channels.open = [:]
    }

    /// A manager is gone: what it sent still goes over.
    mutating func closeChannels(of manager: HostLedger.Manager) {
        for (psm, owner) in channels.listeners where owner.manager == manager { stopListening(psm) }
        for (channel, owner) in channels.open where owner.manager == manager { use(channel, .close, by: manager) }
    }
}
#endif
