#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// L2CAP channels that centrals open.
extension PeripheralRoleMachine {
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
            // The manager was invalidated or power was lost meanwhile.
            guard managers[manager] != nil, state == .poweredOn else { return perform(.stopListening(psm)) }
            managers[manager]?.listeners[psm] = isEncryptionRequired
            deliver(manager, .channelPublished(operation: operation, psm: psm))
        case .failure(let error): deliver(manager, .operationFailed(operation: operation, error: error))
        }
    }

    /// Stops listening, and closes the channels of that PSM (S154).
    mutating func unpublishChannel(_ manager: HostLedger.Manager, _ operation: OperationID, _ psm: UInt16) {
        guard managers[manager]?.listeners[psm] != nil else {
            let error = BackendError(.invalidParameters, operation: "unpublish channel \(psm)")
            return deliver(manager, .operationFailed(operation: operation, error: error))
        }
        stopListening(manager, psm)
        for channel in channels(where: { $0.origin == psm }) {
            perform(.command(.close), on: channel)
            channelEnded(channel)
        }
        deliver(manager, .channelUnpublished(operation: operation, psm: psm))
    }

    private mutating func stopListening(_ manager: HostLedger.Manager, _ psm: UInt16) {
        managers[manager]?.listeners[psm] = nil
        perform(.stopListening(psm))
    }

    /// Stops listening, for all managers.
    mutating func stopListening() {
        for (manager, psms) in managers.mapValues(\.listeners.keys).sorted(by: { $0.key < $1.key }) {
            for psm in psms.sorted() { stopListening(manager, psm) }
        }
    }

    mutating func accepted(_ psm: UInt16, _ opening: ChannelPool.Opening, from address: L2CAPAddress) {
        guard let manager = managers.first(where: { $0.value.listeners[psm] != nil })?.key,
            let peer = central(at: address)
        else {
            return perform(.abort, on: opening.channel)
        }
        channels[opening.channel] = OpenChannel(manager: manager, origin: psm)
        deliver(
            manager,
            .channelOpened(channel: opening.channel, psm: psm, central: peer, credits: opening.credits))
    }

    /// Closes the channels of a manager that is gone; data that it has sent is still transmitted.
    mutating func closeChannels(of manager: HostLedger.Manager) {
        for psm in managers[manager]?.listeners.keys.sorted() ?? [] { stopListening(manager, psm) }
        for channel in channels(where: { $0.manager == manager }) { use(channel, .close, by: manager) }
    }
}
#endif
