#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothValues

/// Discovery of attributes: BlueZ discovers by itself at each connection, and this reads its objects.
extension CentralLink {
    // MARK: Resolution

    /// Whether the attributes are known; if not, starts a timer that waits for them or ends the link.
    mutating func isResolved(_ context: inout CentralContext) -> Bool {
        guard context.objects.devices[path]?.isServicesResolved == true else {
            if !services.areAwaitingResolution {
                services.areAwaitingResolution = true
                start(.resolution, context.timings.resolution, &context)
            }
            return false
        }
        // BlueZ pitfall: services may appear later than `ServicesResolved`
        // (https://github.com/bluez/bluez/issues/1489).
        if services.areFinal || context.objects.hasAttributes(below: path) { return true }
        if !services.areAwaited {
            services.areAwaited = true
            start(.awaitingServices, context.timings.awaitingServices, &context)
        }
        return false
    }

    mutating func resolvedChanged(_ context: inout CentralContext) {
        guard context.objects.devices[path]?.isServicesResolved == true else { return }
        stop(.resolution, &context)
        services.areAwaitingResolution = false
        mtuChanged(to: Self.mtu(of: path, in: context.objects), &context)
        runOperations(&context)
    }

    /// Ends a link whose services were not resolved in time.
    ///
    /// BlueZ pitfall: discovery may never end (https://github.com/hbldh/bleak/issues/1841).
    ///
    /// An ATT client whose request gets no answer must end the link (Core Specification, Vol 3, Part F, 3.3.3).
    mutating func resolutionTimedOut(_ context: inout CentralContext) {
        context.log(.warning, "services of \(peer) were not resolved in \(context.timings.resolution)")
        abandon(reason: .timeout, &context)
    }

    /// Ends the wait for announced services: requests a snapshot, whose attributes count as complete.
    ///
    /// If the daemon sends no snapshot in time either, the known attributes count as complete.
    mutating func servicesAwaited(_ context: inout CentralContext) {
        guard services.areAwaited else { return }
        guard !services.areRefreshing else { return endAwaitingServices(&context) }
        services.areRefreshing = true
        start(.awaitingServices, context.timings.snapshot, &context)
        context.refresh()
    }

    mutating func snapshotTaken(_ context: inout CentralContext) {
        if services.areAwaited { endAwaitingServices(&context) }
    }

    private mutating func endAwaitingServices(_ context: inout CentralContext) {
        stop(.awaitingServices, &context)
        services.areAwaited = false
        services.areFinal = true
        runOperations(&context)
    }

    // MARK: MTU

    /// Returns the MTU of a device's link.
    ///
    /// BlueZ pitfall: the MTU is a property of the characteristics, known after the exchange, and from 5.62 on
    /// (https://github.com/hbldh/bleak/issues/1165).
    static func mtu(of device: ObjectPath, in objects: ObjectModel) -> Int {
        guard objects.devices[device]?.isServicesResolved == true else { return ATTLimits.minimumMTU }
        for service in objects.attributes(of: device) {
            for characteristic in objects.attributes(of: service) {
                if let mtu = objects.characteristics[characteristic]?.mtu { return Int(mtu) }
            }
        }
        return ATTLimits.minimumMTU
    }

    mutating func mtuChanged(to mtu: Int, _ context: inout CentralContext) {
        guard mtu != self.mtu else { return }
        self.mtu = mtu
        for lease in context.ledger.leases(of: peer) {
            if let link = lease.link { context.deliver(lease.manager, .mtuChanged(link: link, mtu: mtu)) }
        }
    }

    // MARK: Responses

    /// Responds to a discovery from the objects.
    mutating func answerDiscovery(_ operation: Operation, _ context: inout CentralContext) {
        let objects = context.objects
        switch operation.command {
        case .request(_, _, .discoverServices(let uuids)):
            services.areDelivered = true
            let records = appsServices(objects).map(\.record).filter { isWanted($0.uuid, uuids) }
            respond(operation, .services(records), &context)
        case .request(_, _, .discoverIncludedServices(let service, let uuids)):
            guard let path = object(service, operation, &context) else { return }
            let included = objects.services[path]?.includes.sorted() ?? []
            let records = included.compactMap { record(ofService: $0, objects) }.filter { isWanted($0.uuid, uuids) }
            respond(operation, .services(records), &context)
        case .request(_, _, .discoverCharacteristics(let service, let uuids)):
            guard let path = object(service, operation, &context) else { return }
            let records = objects.attributes(of: path).compactMap { record(ofCharacteristic: $0, objects) }
                .filter { isWanted($0.uuid, uuids) }
            respond(operation, .characteristics(records), &context)
        case .request(_, _, .discoverDescriptors(let characteristic)):
            guard let path = object(characteristic, operation, &context) else { return }
            let records = objects.attributes(of: path).compactMap { record(ofDescriptor: $0, objects) }
            respond(operation, .descriptors(records), &context)
        default: break
        }
    }

    /// Returns the services that apps may discover.
    mutating func appsServices(_ objects: ObjectModel) -> [(path: ObjectPath, record: ServiceRecord)] {
        let paths = objects.attributes(of: path).filter { isApps($0, objects) }
        return paths.compactMap { path in record(ofService: path, objects).map { (path, $0) } }
    }

    /// Whether apps may discover a service: it is primary, and not 1800 or 1801, which the host handles (S58).
    func isApps(_ service: ObjectPath, _ objects: ObjectModel) -> Bool {
        guard let service = objects.services[service], service.isPrimary else { return false }
        return service.uuid?.bits16 != 0x1800 && service.uuid?.bits16 != 0x1801
    }

    private func isWanted(_ uuid: BluetoothUUID, _ uuids: [BluetoothUUID]?) -> Bool {
        uuids?.contains(uuid) ?? true
    }

    /// Returns the object of an attribute; if it is gone, the operation fails.
    mutating func object(
        _ id: AttributeID, _ operation: Operation, _ context: inout CentralContext
    ) -> ObjectPath? {
        if let path = attributes.path(of: id) { return path }
        endFailed(operation, BackendError(.invalidHandle, operation: "attribute \(id)"), &context)
        return nil
    }

    mutating func record(ofService path: ObjectPath, _ objects: ObjectModel) -> ServiceRecord? {
        guard let service = objects.services[path], let uuid = service.uuid else { return nil }
        return ServiceRecord(
            id: attributes.id(of: path), uuid: uuid, isPrimary: service.isPrimary, handle: path.handle)
    }

    mutating func record(ofCharacteristic path: ObjectPath, _ objects: ObjectModel) -> CharacteristicRecord? {
        guard let characteristic = objects.characteristics[path], let uuid = characteristic.uuid else { return nil }
        // The path has the declaration's handle, and the value's is the next (Core Specification, Vol 3, Part G, 3.3).
        return CharacteristicRecord(
            id: attributes.id(of: path), uuid: uuid, properties: characteristic.properties,
            handle: path.handle.map { $0 &+ 1 })
    }

    private mutating func record(ofDescriptor path: ObjectPath, _ objects: ObjectModel) -> DescriptorRecord? {
        guard let uuid = objects.descriptors[path]?.uuid else { return nil }
        return DescriptorRecord(id: attributes.id(of: path), uuid: uuid, handle: path.handle)
    }
}

extension ObjectPath {
    /// The handle at the end of an attribute's path: `service0021`, `char0022`, `desc0024`.
    var handle: UInt16? {
        UInt16(lastElement.suffix(4), radix: 16)
    }
}
#endif
