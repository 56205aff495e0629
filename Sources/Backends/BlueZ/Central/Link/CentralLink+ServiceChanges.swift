#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// Services that are added and removed while the device is connected.
extension CentralLink {
    mutating func serviceAdded(_ service: ObjectPath, _ context: inout CentralContext) {
        if services.areAwaited {
            // The characteristics follow in separate signals.
            return start(.awaitingServices, context.timings.serviceChanges, &context)
        }
        // A service with a number was delivered already: the snapshot contains the services that a manager restored,
        // too.
        guard services.areDelivered, attributes.knownID(of: service) == nil else { return }
        services.added.append(service)
        start(.serviceChanges, context.timings.serviceChanges, &context)
    }

    mutating func serviceRemoved(_ service: ObjectPath, _ context: inout CentralContext) {
        services.added.removeAll { $0 == service }
        guard let id = attributes.remove(service) else { return }
        services.removed.append(id)
        start(.serviceChanges, context.timings.serviceChanges, &context)
    }

    mutating func attributeRemoved(_ attribute: ObjectPath, _ context: inout CentralContext) {
        // BlueZ drops the subscription with the object.
        if let socket = subscriptions.remove(attribute)?.socket {
            context.perform(.close, onNotificationSocket: socket)
        }
        guard let id = attributes.remove(attribute) else { return }
        failOperations(on: id, at: attribute, &context)
        runOperations(&context)
    }

    /// Fails the operations on an attribute whose object is gone.
    ///
    /// BlueZ pitfall: `bluetoothd` drops pending calls together with the object, and never answers
    /// (`unregister_characteristic` and `unregister_descriptor` in `src/gatt-client.c`).
    private mutating func failOperations(
        on attribute: AttributeID, at path: ObjectPath, _ context: inout CentralContext
    ) {
        guard isOpen else { return }
        let asked = inFlight.filter { $0.value.command.attribute == attribute }
        for (call, operation) in asked.sorted(by: { $0.key.number < $1.key.number }) {
            inFlight[call] = nil
            failRemoved(operation, &context)
        }
        if writes.open?.path == path { giveBackSocket(&context) }
        for operation in writes.removed(path, attribute) { failRemoved(operation, &context) }
    }

    private mutating func failRemoved(_ operation: Operation, _ context: inout CentralContext) {
        let error = BackendError(
            .invalidHandle, operation: operation.command.member, message: "the peer has removed the attribute")
        // A device whose services are not resolved may be about to disconnect; the end of the link is then the answer.
        guard context.objects.devices[path]?.isServicesResolved == false, operation.command.operation != nil,
            ending.lost == nil
        else { return endFailed(operation, error, &context) }
        ending.lost = (operation, error)
        start(.linkLoss, context.timings.linkLoss, &context)
    }

    mutating func reportServiceChanges(_ context: inout CentralContext) {
        guard isOpen else { return }
        let (removed, candidates) = (services.removed, services.added)
        services.removed = []
        services.added = []
        let added = candidates.filter { isApps($0, context.objects) }
            .compactMap { record(ofService: $0, context.objects) }
        guard !added.isEmpty || !removed.isEmpty else { return }
        for lease in context.ledger.leases(of: peer) {
            guard let id = lease.link else { continue }
            context.deliver(lease.manager, .servicesChanged(link: id, removed: removed, added: added))
        }
    }
}
#endif
