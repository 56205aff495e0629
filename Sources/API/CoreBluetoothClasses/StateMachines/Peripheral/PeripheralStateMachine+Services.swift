import BluetoothBackend

extension PeripheralStateMachine {
    /// The result of a call of `add`.
    struct Addition: Sendable {
        /// The call, if it is to be answered.
        var operation: OperationID?
        /// The definition that is being published; nil if the service was refused.
        var definition: ServiceDefinition?
        var effects: [PeripheralEffect]
    }

    /// Performs `add` (S106, S110...S112).
    ///
    /// Misuse for which Apple raises an exception has trapped before.
    mutating func add(_ service: LocalService) -> Addition {
        guard state == .poweredOn else { return Addition(effects: [.misuse(.notPoweredOn)]) }
        let operation = newOperation()
        additions.append(operation)
        if let refusal = service.refusal ?? database.refusal(of: service) {
            let error = BackendError(refusal.code, operation: "add \(service.uuid)", message: refusal.reason)
            return Addition(
                operation: operation,
                effects: [
                    .misuse(.refusedService(service.uuid, reason: refusal.reason)),
                    .complete(.refused(operation, error)),
                ])
        }
        let definition = database.insert(service, addedBy: operation)
        return Addition(
            operation: operation, definition: definition,
            effects: [.submit(.addService(operation: operation, service: definition))])
    }

    /// Handles the answer to `add`; nil if it is for another operation.
    mutating func added(_ operation: OperationID, _ answer: BackendError?) -> [PeripheralEffect]? {
        guard additions.contains(operation) else { return nil }
        var effects: [PeripheralEffect] = []
        var error = answer
        if let id = database.service(addedBy: operation), let service = database.service(id) {
            let isComplete = service.definition.included.allSatisfy { database.service($0) != nil }
            if error == nil && !isComplete {
                error = BackendError(
                    .invalidParameters, operation: "add \(service.definition.uuid)",
                    message: "a service that it includes was not published")
                effects.append(.submit(.removeService(id)))
            }
            if error != nil { effects += withdraw(id) }
        }
        let due = additions.respond(to: operation, with: .added(operation, error))
        return effects + due.map { .callback($0) } + readiness()
    }

    /// Performs `remove` (S113); does nothing if the service is not published.
    mutating func remove(_ key: ObjectKey) -> [PeripheralEffect] {
        guard state == .poweredOn else { return [.misuse(.notPoweredOn)] }
        guard let id = database[key], let service = database.service(id) else { return [] }
        if let includer = database.includer(of: id) {
            return [.misuse(.includedByAnother(service.definition.uuid, includer: includer.definition.uuid))]
        }
        return [.submit(.removeService(id))] + takeOut([id])
    }

    mutating func removeAllServices() -> [PeripheralEffect] {
        guard state == .poweredOn else { return [.misuse(.notPoweredOn)] }
        return [.submit(.removeAllServices)] + takeOut(database.serviceIDs)
    }

    /// Removes services at once for the backend and for `add`; the app sees it later, on the manager's queue.
    private mutating func takeOut(_ ids: [AttributeID]) -> [PeripheralEffect] {
        for id in ids { dropService(id) }
        return ids.map { .thaw($0) } + [.complete(.withdrawn(ids))]
    }
}

/// The PSMs that a manager listens on.
struct ChannelListeners: Sendable {
    fileprivate var published: Set<UInt16> = []
    fileprivate(set) var publishing: Set<OperationID> = []
    fileprivate(set) var unpublishing: [OperationID: UInt16] = [:]
}

extension PeripheralStateMachine {
    /// Performs `publishL2CAPChannel` (S146).
    mutating func publishChannel(isEncryptionRequired: Bool) -> [PeripheralEffect] {
        guard state == .poweredOn else { return [.misuse(.notPoweredOn)] }
        let operation = newOperation()
        channels.publishing.insert(operation)
        return [.submit(.publishChannel(operation: operation, isEncryptionRequired: isEncryptionRequired))]
    }

    /// Performs `unpublishL2CAPChannel` (S154).
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

    /// Handles the failure of a channel's operation; nil if it is for another operation.
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
