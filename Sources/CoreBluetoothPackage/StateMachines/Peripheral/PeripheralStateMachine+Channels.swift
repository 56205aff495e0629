import BluetoothBackend

/// The PSMs that a manager listens on.
struct ChannelListeners: Sendable {
    fileprivate var published: Set<UInt16> = []
    fileprivate(set) var publishing: Set<OperationID> = []
    fileprivate(set) var unpublishing: [OperationID: UInt16] = [:]
}

extension PeripheralStateMachine {
    /// `publishL2CAPChannel` (S146).
    mutating func publishChannel(isEncryptionRequired: Bool) -> [PeripheralEffect] {
        guard state == .poweredOn else { return [.misuse(.notPoweredOn)] }
        let operation = newOperation()
        channels.publishing.insert(operation)
        return [.submit(.publishChannel(operation: operation, isEncryptionRequired: isEncryptionRequired))]
    }

    /// `unpublishL2CAPChannel` (S154).
    mutating func unpublishChannel(psm: UInt16) -> [PeripheralEffect] {
        guard state == .poweredOn else { return [.misuse(.notPoweredOn)] }
        guard channels.published.remove(psm) != nil else { return [.complete(.unknownPSM(psm))] }
        let operation = newOperation()
        channels.unpublishing[operation] = psm
        return [.submit(.unpublishChannel(operation: operation, psm: psm)), .closeChannels(psm: psm)]
    }

    mutating func handleChannelEvent(_ event: PeripheralEvent) -> [PeripheralEffect] {
        switch event {
        case .channelPublished(let operation, let psm):
            guard channels.publishing.remove(operation) != nil else { return [] }
            channels.published.insert(psm)
            return [.callback(.channelPublished(psm: psm, nil))]
        case .channelUnpublished(let operation, let psm):
            guard channels.unpublishing.removeValue(forKey: operation) != nil else { return [] }
            return [.callback(.channelUnpublished(psm: psm, nil))]
        case .channelOpened(let channel, let psm, let central, _):
            guard channels.published.contains(psm) else { return [.closeChannel(channel)] }
            return [.callback(.channelOpened(channel, psm: psm, central))]
        default: return []
        }
    }

    /// The failure of a channel's operation; nil if the operation is another one.
    mutating func channelFailed(_ operation: OperationID, _ error: BackendError) -> [PeripheralEffect]? {
        if channels.publishing.remove(operation) != nil { return [.callback(.channelPublished(psm: 0, error))] }
        guard let psm = channels.unpublishing.removeValue(forKey: operation) else { return nil }
        return [.callback(.channelUnpublished(psm: psm, error))]
    }

    func unknownPSM(_ psm: UInt16) -> [PeripheralEffect] {
        let error = BackendError(.invalidParameters, operation: "unpublish \(psm)", message: "it is not published")
        return [.callback(.channelUnpublished(psm: psm, error))]
    }
}
