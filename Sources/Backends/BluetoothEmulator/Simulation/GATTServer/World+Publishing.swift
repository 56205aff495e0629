import BluetoothBackend
import BluetoothSupport
import BluetoothValues

// The services and advertisements of peripheral managers, and the device that their host forms on the air.
extension World {
    // MARK: Hosts

    /// Returns a host for a peripheral manager that names none: the one with its preserved state, one without managers,
    /// or a new one.
    mutating func freeHost(_ restoreIdentifier: String?) -> Int {
        if let restoreIdentifier,
            let preserving = hosts.firstIndex(where: { $0.terminatedApps.peripherals[restoreIdentifier] != nil })
        {
            return preserving
        }
        let free = hosts.firstIndex {
            $0.identity.isAnonymous && $0.managers.isEmpty && $0.terminatedApps.peripherals.isEmpty
        }
        if let free {
            setDeviceName(hosts[free].identity.name, ofAnonymous: free)
            return free
        }
        var number = 1
        while hosts.contains(where: { $0.identity.name == "peripheral \(number)" }) { number += 1 }
        let description = HostDescription(name: "peripheral \(number)", authorization: hosts.defaultAuthorization)
        addHost(Host(description, isAnonymous: true))
        return hosts.count - 1
    }

    /// Puts a host on the air as a device, unless it is on the air.
    mutating func openServer(of host: Int) {
        guard hosts[host].server == nil else { return }
        let address = hosts[host].identity.airAddress
        let peers = hosts.map { $0.identity.peerID(of: address) }
        do {
            let device = try Device(server: hosts[host], number: host, peers: peers, seed: context.random.seed)
            let ref = air.insert(device)
            hosts[host].server = ref
            device.reportAddition(ref, &context)
        } catch {
            context.log("no peripheral role: \(error)")
        }
    }

    /// Applies a change of a host's state to its server.
    ///
    /// Below poweredOn, the links and PSMs are lost and advertising pauses; below poweredOff, nothing stays published.
    /// Managers receive no event except the state.
    mutating func serverStateChanged(_ host: Int) {
        guard let server = hosts[host].server else { return }
        let state = hosts[host].canServe ? hosts[host].adapter.state : .unsupported
        let isOn = state == .poweredOn
        let wasServing = air.devices[server]?.signal.isOn == true
        air.devices[server]?.signal.isOn = isOn
        if wasServing != isOn { air.reportChange(of: server, &context) }
        if wasServing, !isOn {
            closeServer(server, isOrderly: state == .poweredOff)
            channels.stopListening(on: host)
        }
        guard state != .poweredOn, state != .poweredOff, let database = air.devices[server]?.server.database else {
            return
        }
        removeServices(database.publishedServices(), of: server)
        for index in air.devices[server]?.advertiser.sets.indices ?? 0..<0 {
            air.devices[server]?.advertiser.free(index)
        }
        for manager in hosts[host].managers { hosts.managers[manager]?.publication = ManagerPublication() }
        hosts[host].terminatedApps.peripherals = [:]
        air.reportChange(of: server, &context)
    }

    /// Ends the links to a host's server: by disconnecting if the host is switched off, by supervision timeout if its
    /// Bluetooth service is lost.
    private mutating func closeServer(_ server: Ref<Device>, isOrderly: Bool) {
        let open = air.devices[server]?.links ?? []
        lose(server, staysOnAir: true, reason: .local)
        guard isOrderly else { return }
        for link in open {
            context.queue.schedule(
                .remoteClose(link), at: links.connectionEvent(of: link, from: context.now))
        }
    }

    /// Changes the GAP Device Name of a host that was created for a peripheral manager, unless a test has renamed it.
    private mutating func setDeviceName(_ name: String, ofAnonymous host: Int) {
        guard hosts[host].identity.isAnonymous, let server = hosts[host].server, let device = air.devices[server],
            device.description.name == hosts[host].identity.name
        else { return }
        air.devices[server]?.server.database[device.server.deviceName]?.value = Data(name.utf8)
    }

    // MARK: Commands

    mutating func handle(_ command: PeripheralCommand, of ref: Ref<Manager>) {
        guard let host = hosts.managers[ref]?.host, let server = hosts[host].server else { return }
        switch command {
        case .removeService(let id): withdraw([id], of: ref, server)
        case .removeAllServices:
            withdraw(
                air.devices[server]?.server.database.publishedServices(by: ref) ?? [], of: ref, server, areLocal: false)
        case .stopAdvertising: stopAdvertising(ref, server)
        default:
            if air.devices[server]?.signal.isOn == true { handleWhenOn(command, of: ref, server) }
        }
    }

    private mutating func handleWhenOn(_ command: PeripheralCommand, of ref: Ref<Manager>, _ server: Ref<Device>) {
        switch command {
        case .addService(let operation, let service): publish(service, operation, ref, server)
        case .startAdvertising(let operation, let advertisement):
            startAdvertising(advertisement, operation, ref, server)
        case .respond(let request, let code, let value):
            respond(ref, request, ATTCode(rawValue: code), value ?? Data(), server)
        case .updateValue(let attribute, let value, let centrals):
            update(ref, attribute, value, centrals, server)
        case .setConnectionLatency(let central, let latency): setLatency(latency, central, server)
        case .publishChannel(let operation, let isEncryptionRequired):
            guard let host = air.devices[server]?.host, hosts[host].adapter.features.contains(.channels) else {
                return context.fail(operation, .operationNotSupported, "publish channel", of: ref)
            }
            channels.publish(operation, isEncryptionRequired: isEncryptionRequired, by: ref, on: host, &context)
        case .unpublishChannel(let operation, let psm):
            guard let host = air.devices[server]?.host else { return }
            channels.unpublish(psm, operation, by: ref, on: host, links, &context)
        case .channel(let channel, let command):
            channels.handle(command, on: channel, of: ref, &links, &air, &context)
        case .removeService, .removeAllServices, .stopAdvertising: break  // done in any state
        }
    }

    // MARK: Services

    mutating func publish(
        _ service: ServiceDefinition, _ operation: OperationID?, _ ref: Ref<Manager>, _ server: Ref<Device>
    ) {
        var published = hosts.managers[ref]?.publication.attributes ?? [:]
        do throws(BackendError) {
            guard let id = try air.devices[server]?.server.database.publish(service, by: ref, &published) else {
                return
            }
            hosts.managers[ref]?.publication.attributes = published
            hosts.managers[ref]?.publication.services.append(service)
            if let operation { context.emit(PeripheralEvent.serviceAdded(operation: operation), to: ref) }
            guard let record = air.devices[server]?.server.database.record(ofService: id) else { return }
            reportServicesChanged(removed: [], added: [record], of: server)
        } catch {
            guard let operation else { return context.log("service not restored: \(error)") }
            context.emit(PeripheralEvent.operationFailed(operation: operation, error: error), to: ref)
        }
    }

    /// Withdraws services of a manager, with a single Service Changed.
    private mutating func withdraw(
        _ ids: [AttributeID], of ref: Ref<Manager>, _ server: Ref<Device>, areLocal: Bool = true
    ) {
        let published = hosts.managers[ref]?.publication.attributes ?? [:]
        let gone = areLocal ? ids.compactMap { published[$0] } : ids
        let services = gone.filter { id in
            if case .service? = air.devices[server]?.server.database[id]?.role { true } else { false }
        }
        removeServices(services, of: server)
        guard let database = air.devices[server]?.server.database else { return }
        let left = published.filter { database[$0.value] != nil }
        hosts.managers[ref]?.publication.attributes = left
        hosts.managers[ref]?.publication.services.removeAll { left[$0.id] == nil }
        for link in air.devices[server]?.links ?? [] { revokeCredits(of: ref, on: link) }
    }

    /// Withdraws everything that a removed manager published.
    mutating func withdrawAll(of ref: Ref<Manager>) {
        guard hosts.managers[ref]?.role == .peripheral, let host = hosts.managers[ref]?.host,
            let server = hosts[host].server
        else { return }
        stopAdvertising(ref, server)
        closeListeners(of: ref, server)
        withdraw(
            air.devices[server]?.server.database.publishedServices(by: ref) ?? [], of: ref, server, areLocal: false)
        failRequests(of: ref, server)
    }

    mutating func closeListeners(of ref: Ref<Manager>, _ server: Ref<Device>) {
        channels.stopListening(of: ref)
        for link in air.devices[server]?.links ?? [] { channels.closeAll(of: ref, on: link, links, &context) }
    }

    mutating func failRequests(of ref: Ref<Manager>, _ server: Ref<Device>) {
        for link in air.devices[server]?.links ?? [] where links[link]?.server.pendingRequest?.manager == ref {
            guard let asked = links[link]?.server.pendingRequest else { continue }
            links[link]?.server.pendingRequest = nil
            stopTransactionTimeout(link)
            fail(asked.operation, .unlikelyError, on: link, "request")
        }
    }

    // MARK: Advertising

    mutating func startAdvertising(
        _ advertisement: Advertisement, _ operation: OperationID?, _ ref: Ref<Manager>, _ server: Ref<Device>
    ) {
        guard let sets = air.devices[server]?.advertiser.sets else { return }
        let slot = sets.firstIndex { $0.manager == ref } ?? sets.firstIndex { $0.manager == nil } ?? sets.count
        guard slot < context.configuration.maximumAdvertisingSets else {
            guard let operation else { return context.log("advertising not restored: no room") }
            return context.fail(operation, .outOfSpace, "advertise", of: ref)
        }
        guard let host = air.devices[server]?.host else { return }
        air.devices[server]?.advertiser.replace(
            slot, with: Advertiser.AdvertisingSet(advertisement, of: ref, hosts[host].adapter.advertising))
        hosts.managers[ref]?.publication.advertisement = advertisement
        if let name = advertisement.localName {
            setDeviceName(name, ofAnonymous: host)
        }
        air.reportChange(of: server, &context)
        if let operation { context.emit(PeripheralEvent.advertisingStarted(operation: operation), to: ref) }
        air.wake(server, hosts, &context)
    }

    /// Changes the content that a host adds to its managers' advertisements.
    mutating func setAdvertising(_ advertising: HostAdvertising, of host: Int) {
        hosts[host].adapter.advertising = advertising
        guard let server = hosts[host].server else { return }
        for index in air.devices[server]?.advertiser.sets.indices ?? 0..<0 {
            guard let manager = air.devices[server]?.advertiser.sets[index].manager,
                let advertisement = hosts.managers[manager]?.publication.advertisement
            else { continue }
            air.devices[server]?.advertiser.replace(
                index, with: Advertiser.AdvertisingSet(advertisement, of: manager, advertising))
        }
        air.reportChange(of: server, &context)
        air.wake(server, hosts, &context)
    }

    private mutating func stopAdvertising(_ ref: Ref<Manager>, _ server: Ref<Device>) {
        guard let index = air.devices[server]?.advertiser.sets.firstIndex(where: { $0.manager == ref }) else { return }
        hosts.managers[ref]?.publication.advertisement = nil
        air.devices[server]?.advertiser.free(index)
        air.reportChange(of: server, &context)
    }
}
