import BluetoothBackend

extension PeripheralStateMachine {
    /// What became of a call of `add`.
    struct Addition: Sendable {
        /// The call, if it is to be answered.
        var operation: OperationID?
        /// What is being published, if nothing refused it.
        var definition: ServiceDefinition?
        var effects: [PeripheralEffect]
    }

    /// `add` (S106, S110...S112).
    ///
    /// What Apple raises an exception for has trapped before.
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

    /// The answer to `add`; nil if the operation is another one.
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

    /// `remove` (S113); a service that is not published is no matter.
    mutating func remove(_ key: ObjectKey) -> [PeripheralEffect] {
        guard state == .poweredOn else { return [.misuse(.notPoweredOn)] }
        guard let id = database[key], let service = database.service(id) else { return [] }
        if let includer = database.includer(of: id) {
            return [.misuse(.includedByAnother(service.definition.uuid, includer: includer.definition.uuid))]
        }
        return [.submit(.removeService(id))] + takeOut([id])
    }

    /// `removeAllServices`.
    mutating func removeAllServices() -> [PeripheralEffect] {
        guard state == .poweredOn else { return [.misuse(.notPoweredOn)] }
        return [.submit(.removeAllServices)] + takeOut(database.serviceIDs)
    }

    /// At once for the radio and for `add`; what the app sees of it changes on the manager's queue.
    private mutating func takeOut(_ ids: [AttributeID]) -> [PeripheralEffect] {
        for id in ids { dropService(id) }
        return ids.map { .thaw($0) } + [.complete(.withdrawn(ids))]
    }
}
