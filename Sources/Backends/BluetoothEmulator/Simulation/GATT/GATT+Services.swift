import BluetoothBackend
import BluetoothSupport

// The services of devices: their publication by managers, their changes, and the subscriptions to their values.
extension GATT {
    // MARK: Changes

    /// Adds a service to a device.
    mutating func add(_ service: ServiceDescription, to ref: Ref<Device>, _ radio: inout Radio) {
        do {
            guard let id = try radio.air.devices[ref]?.server.add(service, path: "service") else { return }
            reportAdded(id, to: ref, &radio)
        } catch { radio.context.log("service not added: \(error)") }
    }

    private mutating func reportAdded(_ id: AttributeID, to ref: Ref<Device>, _ radio: inout Radio) {
        guard let record = radio.air.devices[ref]?.server.database.record(ofService: id) else { return }
        reportServicesChanged(removed: [], added: [record], of: ref, &radio)
    }

    /// Removes services with everything in them and all subscriptions, and indicates Service Changed to connected
    /// centrals.
    mutating func remove(_ ids: [AttributeID], of ref: Ref<Device>, _ radio: inout Radio) {
        guard !ids.isEmpty else { return }
        for id in ids {
            let gone = radio.air.devices[ref]?.server.remove(id) ?? []
            for link in radio.air.devices[ref]?.links ?? [] { self[link]?.server.unsubscribe(from: gone) }
        }
        reportServicesChanged(removed: ids, added: [], of: ref, &radio)
    }

    /// Sends Service Changed, to which every host subscribes by itself.
    private mutating func reportServicesChanged(
        removed: [AttributeID], added: [ServiceRecord], of ref: Ref<Device>, _ radio: inout Radio
    ) {
        guard let device = radio.air.devices[ref] else { return }
        device.reportServices(ref, &radio.context)
        for link in device.links { sendServicesChanged(removed: removed, added: added, on: link, &radio) }
    }

    mutating func sendServicesChanged(
        removed: [AttributeID], added: [ServiceRecord], on ref: Ref<Link>, _ radio: inout Radio
    ) {
        // Faults concern values only.
        _ = send(.servicesChanged(removed: removed, added: added), on: ref, &radio)
    }

    // MARK: Publication

    /// Publishes a service of a manager.
    ///
    /// - Parameter operation: The operation that the manager awaits; nil for a restored service.
    mutating func publish(
        _ service: ServiceDefinition, _ operation: OperationID?, by manager: Ref<Manager>, at ref: Ref<Device>,
        _ radio: inout Radio
    ) {
        var published = radio.hosts.managers[manager]?.publication.attributes ?? [:]
        do throws(BackendError) {
            guard let id = try radio.air.devices[ref]?.server.database.publish(service, by: manager, &published) else {
                return
            }
            radio.hosts.managers[manager]?.publication.add(service, published)
            if let operation { radio.context.emit(PeripheralEvent.serviceAdded(operation: operation), to: manager) }
            reportAdded(id, to: ref, &radio)
        } catch {
            guard let operation else { return radio.context.log("service not restored: \(error)") }
            radio.context.emit(PeripheralEvent.operationFailed(operation: operation, error: error), to: manager)
        }
    }

    /// Withdraws a service of a manager, or all of them, with a single Service Changed.
    mutating func withdraw(
        _ local: AttributeID? = nil, of manager: Ref<Manager>, at ref: Ref<Device>, _ radio: inout Radio
    ) {
        let published = radio.hosts.managers[manager]?.publication.attributes ?? [:]
        guard let old = radio.air.devices[ref]?.server.database else { return }
        let services =
            if let local { [published[local]].compactMap { $0 }.filter(old.services.contains) } else {
                old.publishedServices(by: manager)
            }
        remove(services, of: ref, &radio)
        guard let device = radio.air.devices[ref] else { return }
        radio.hosts.managers[manager]?.publication.keep(published.filter { device.server.database[$0.value] != nil })
        for link in device.links { revokeCredits(of: manager, on: link, &radio) }
    }

    // MARK: Subscriptions

    /// Registers a central's subscription, and starts the characteristic's timer.
    mutating func subscribe(
        _ attribute: AttributeID, _ kind: LinkServer.Subscription?, on ref: Ref<Link>, at device: Ref<Device>,
        _ radio: inout Radio
    ) {
        self[ref]?.server.subscriptions[attribute] = kind
        guard let interval = radio.air.devices[device]?.server.startTimer(of: attribute) else { return }
        radio.context.queue.schedule(
            .notifyTimer(device, attribute), at: radio.context.now + interval, isPeriodic: true)
    }

    /// Ends a central's subscription; returns whether there was one.
    mutating func unsubscribe(_ attribute: AttributeID, on ref: Ref<Link>) -> Bool {
        self[ref]?.server.subscriptions.removeValue(forKey: attribute) != nil
    }

    /// Returns the number of centrals that subscribe to an attribute of a device.
    func subscriberCount(_ attribute: AttributeID?, of device: Device) -> Int {
        guard let attribute else { return 0 }
        return device.links.count { self[$0]?.server.subscriptions[attribute] != nil }
    }

    func attributes(of device: Device) -> DeviceAttributes {
        let database = device.server.database
        let subscriptions = device.links.flatMap { self[$0].map { Array($0.server.subscriptions.keys) } ?? [] }
        let handles = subscriptions.compactMap { database[$0]?.handle }
        return DeviceAttributes(
            services: database.tappedServices, values: database.valuesByHandle,
            subscriberCounts: Dictionary(handles.map { ($0, 1) }, uniquingKeysWith: +))
    }

    /// Fires the timer of a characteristic, unless no central subscribes to it any more.
    ///
    /// - Returns: The value to notify, and the interval until the next.
    mutating func notifyTimerFired(
        _ ref: Ref<Device>, _ attribute: AttributeID, _ radio: inout Radio
    ) -> (value: Data, interval: Nanoseconds)? {
        guard let device = radio.air.devices[ref] else { return nil }
        guard subscriberCount(attribute, of: device) > 0 else {
            radio.air.devices[ref]?.server.stopTimer(of: attribute)
            return nil
        }
        return radio.air.devices[ref]?.server.timerFired(of: attribute)
    }
}
