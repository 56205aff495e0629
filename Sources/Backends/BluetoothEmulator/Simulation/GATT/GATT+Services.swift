import BluetoothBackend

// The services of devices: their publication by managers, their changes, and the subscriptions to their values.
extension GATT {
    // MARK: Changes

    /// Adds a service to a device.
    mutating func add(_ service: ServiceDescription, to ref: Ref<Device>, _ lower: inout LowerLayers) {
        do {
            guard let record = try lower.air.devices[ref]?.server.addNew(service) else { return }
            reportServicesChanged(removed: [], added: [record], of: ref, &lower)
        } catch { lower.context.log("service not added: \(error)") }
    }

    /// Removes services with everything in them and all subscriptions, and indicates Service Changed to connected
    /// centrals.
    mutating func remove(_ ids: [AttributeID], of ref: Ref<Device>, _ lower: inout LowerLayers) {
        guard !ids.isEmpty else { return }
        for id in ids {
            let gone = lower.air.devices[ref]?.server.remove(id) ?? []
            for link in lower.air.links(of: ref) { self[link]?.server.unsubscribe(from: gone) }
        }
        reportServicesChanged(removed: ids, added: [], of: ref, &lower)
    }

    /// Replaces all services of a device, and optionally indicates Service Changed to connected centrals.
    mutating func replaceServices(
        of ref: Ref<Device>, with services: [TappedService], isIndicated: Bool, _ lower: inout LowerLayers
    ) {
        guard let change = lower.air.devices[ref]?.server.replaceServices(with: services) else { return }
        for link in lower.air.links(of: ref) { self[link]?.server.unsubscribe(from: change.characteristics) }
        if isIndicated {
            reportServicesChanged(removed: change.removed, added: change.added, of: ref, &lower)
        } else if let device = lower.air.devices[ref] {
            device.reportServices(ref, &lower.context)
        }
    }

    /// Sends Service Changed, to which every host subscribes by itself.
    private mutating func reportServicesChanged(
        removed: [AttributeID], added: [ServiceRecord], of ref: Ref<Device>, _ lower: inout LowerLayers
    ) {
        guard let device = lower.air.devices[ref] else { return }
        device.reportServices(ref, &lower.context)
        for link in device.links { sendServicesChanged(removed: removed, added: added, on: link, &lower) }
    }

    mutating func sendServicesChanged(
        removed: [AttributeID], added: [ServiceRecord], on ref: Ref<Link>, _ lower: inout LowerLayers
    ) {
        // Faults concern values only.
        if let link = lower.links[ref] {
            _ = send(.servicesChanged(removed: removed, added: added), on: ref, link, &lower)
        }
    }

    // MARK: Publication

    /// Publishes a service of a manager.
    ///
    /// - Parameter operation: The operation that the manager awaits; nil for a restored service.
    mutating func publish(
        _ service: ServiceDefinition, _ operation: OperationID?, by manager: Ref<Manager>, at ref: Ref<Device>,
        _ lower: inout LowerLayers
    ) {
        do throws(BackendError) {
            let record = try lower.hosts.managers[manager]?.publication.add(service, of: manager, at: ref, &lower.air)
            guard let record else { return }
            if let operation { lower.context.emit(PeripheralEvent.serviceAdded(operation: operation), to: manager) }
            reportServicesChanged(removed: [], added: [record], of: ref, &lower)
        } catch {
            guard let operation else { return lower.context.log("service not restored: \(error)") }
            lower.context.emit(PeripheralEvent.operationFailed(operation: operation, error: error), to: manager)
        }
    }

    /// Withdraws a service of a manager, or all of them, with a single Service Changed.
    mutating func withdraw(
        _ local: AttributeID? = nil, of manager: Ref<Manager>, at ref: Ref<Device>, _ lower: inout LowerLayers
    ) {
        guard let publisher = lower.hosts.managers[manager], let old = lower.air.devices[ref] else { return }
        let (published, database) = (publisher.publication.attributes, old.server.database)
        let services =
            if let local { [published[local]].compactMap { $0 }.filter(database.services.contains) } else {
                database.publishedServices(by: manager)
            }
        remove(services, of: ref, &lower)
        guard let device = lower.air.devices[ref] else { return }
        lower.hosts.managers[manager]?.publication.keep(in: device.server.database)
        for link in device.links { revokeCredits(of: manager, on: link, &lower) }
    }

    // MARK: Subscriptions

    /// Registers a central's subscription, and starts the characteristic's timer.
    mutating func subscribe(
        _ attribute: AttributeID, _ kind: LinkServer.Subscription?, on ref: Ref<Link>, at device: Ref<Device>,
        _ lower: inout LowerLayers
    ) {
        self[ref]?.server.subscriptions[attribute] = kind
        guard let interval = lower.air.devices[device]?.server.startTimer(of: attribute) else { return }
        lower.context.queue.schedule(
            .notifyTimer(device, attribute), at: lower.context.now + interval, isPeriodic: true)
    }

    /// Returns the number of centrals that subscribe to an attribute of a device.
    func subscriberCount(_ attribute: AttributeID, on links: [Ref<Link>]) -> Int {
        links.count { self[$0]?.server.subscriptions[attribute] != nil }
    }

    func attributes(of device: Device) -> DeviceAttributes {
        let database = device.server.database
        let subscriptions = device.links.flatMap { self[$0].map { Array($0.server.subscriptions.keys) } ?? [] }
        let handles = subscriptions.compactMap { database[$0]?.handle }
        return DeviceAttributes(
            services: database.tappedServices, values: database.valuesByHandle,
            subscriberCounts: Dictionary(handles.map { ($0, 1) }, uniquingKeysWith: +))
    }
}
