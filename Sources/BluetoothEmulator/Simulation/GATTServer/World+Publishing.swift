import BluetoothBackend
import BluetoothSupport
import BluetoothValues

// What peripheral managers publish: the server of a host and its advertising.
extension World {
    // MARK: Hosts

    /// The host of a name or an address.
    func host(_ name: String) -> Int? {
        hosts.firstIndex { $0.name == name || $0.address.description == name }
    }

    /// A host for a peripheral manager that names none: the one that keeps its state, one that nobody uses any more, or
    /// a new one.
    mutating func freeHost(_ restoreIdentifier: String?) -> Int {
        if let restoreIdentifier,
            let kept = hosts.firstIndex(where: { $0.terminatedPeripherals[restoreIdentifier] != nil })
        {
            return kept
        }
        let free = hosts.firstIndex { $0.isAnonymous && $0.managers.isEmpty && $0.terminatedPeripherals.isEmpty }
        if let free {
            setDeviceName(hosts[free].name, ofAnonymous: free)
            return free
        }
        var number = 1
        while hosts.contains(where: { $0.name == "peripheral \(number)" }) { number += 1 }
        let permission = hosts.first { $0.name == "default" }?.authorization ?? .allowed
        var host = Host(HostDescription(name: "peripheral \(number)", authorization: permission))
        host.isAnonymous = true
        addHost(host)
        return hosts.count - 1
    }

    /// Puts a host on the air as a device, once.
    mutating func openServer(of host: Int) {
        guard hosts[host].server == nil else { return }
        let identities = hosts.map { $0.identity(of: hosts[host].airAddress) }
        do {
            let device = try Device(server: hosts[host], number: host, identities: identities, seed: seed)
            addresses.insert(device.address)
            hosts[host].server = devices.insert(device)
        } catch {
            trace.note("no peripheral role: \(error)", at: now)
        }
    }

    /// Below poweredOn the centrals and the numbers of channels are gone and advertising pauses; below poweredOff nothing is published any more.
    ///
    /// Nobody is told, as the state says it.
    mutating func serverStateChanged(_ host: Int) {
        guard let server = hosts[host].server else { return }
        let state = hosts[host].canServe ? hosts[host].state : .unsupported
        let isOn = state == .poweredOn
        let wasServing = devices[server]?.isOn == true
        devices[server]?.isOn = isOn
        if wasServing, !isOn {
            closeServer(server, isOrderly: state == .poweredOff)
            hosts[host].listeners = [:]
        }
        guard state != .poweredOn, state != .poweredOff, let database = devices[server]?.database else { return }
        removeServices(database.publishedServices(), of: server)
        for index in devices[server]?.sets.indices ?? 0..<0 { freeSet(index, of: server) }
        for manager in hosts[host].managers {
            managers[manager]?.published = [:]
            managers[manager]?.services = []
            managers[manager]?.advertisement = nil
        }
        hosts[host].terminatedPeripherals = [:]
    }

    /// Ends the links to a host's server: with a word to the centrals when it is switched off, without one when its
    /// Bluetooth service is gone.
    private mutating func closeServer(_ server: Ref<Device>, isOrderly: Bool) {
        let open = devices[server]?.links ?? []
        lose(server, staysOnAir: true)
        guard isOrderly else { return }
        for link in open {
            queue.schedule(.remoteClose(link), at: links[link]?.connectionEvent(from: now) ?? now)
        }
    }

    /// Changes the GAP Device Name of a host that was made for a peripheral manager, unless a test renamed it.
    private mutating func setDeviceName(_ name: String, ofAnonymous host: Int) {
        guard hosts[host].isAnonymous, let server = hosts[host].server, let device = devices[server],
            device.name == hosts[host].name
        else { return }
        devices[server]?.database[device.deviceName]?.value = Data(name.utf8)
    }

    // MARK: Commands

    mutating func handle(_ command: PeripheralCommand, of ref: Ref<Manager>) {
        guard let host = managers[ref]?.host, let server = hosts[host].server else { return }
        switch command {
        case .removeService(let id): withdraw([id], of: ref, server)
        case .removeAllServices:
            withdraw(devices[server]?.database.publishedServices(by: ref) ?? [], of: ref, server, areLocal: false)
        case .stopAdvertising: stopAdvertising(ref, server)
        default:
            if devices[server]?.isOn == true { handleWhenOn(command, of: ref, server) }
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
            guard let host = devices[server]?.host, hosts[host].features.contains(.channels) else {
                let error = BackendError(.operationNotSupported, operation: "publish channel")
                return emit(PeripheralEvent.operationFailed(operation: operation, error: error), to: ref)
            }
            publishChannel(operation, isEncryptionRequired: isEncryptionRequired, ref, on: host)
        case .unpublishChannel(let operation, let psm):
            guard let host = devices[server]?.host else { return }
            unpublishChannel(psm, operation, ref, on: host)
        case .channel(let channel, let command): handle(command, on: channel, of: ref)
        case .removeService, .removeAllServices, .stopAdvertising: break  // done in any state
        }
    }

    // MARK: Services

    mutating func publish(
        _ service: ServiceDefinition, _ operation: OperationID?, _ ref: Ref<Manager>, _ server: Ref<Device>
    ) {
        var published = managers[ref]?.published ?? [:]
        do throws(BackendError) {
            guard let id = try devices[server]?.database.publish(service, by: ref, &published) else { return }
            managers[ref]?.published = published
            managers[ref]?.services.append(service)
            if let operation { emit(PeripheralEvent.serviceAdded(operation: operation), to: ref) }
            guard let record = devices[server]?.database.record(ofService: id) else { return }
            tellServicesChanged(removed: [], added: [record], of: server)
        } catch {
            guard let operation else { return trace.note("service not restored: \(error)", at: now) }
            emit(PeripheralEvent.operationFailed(operation: operation, error: error), to: ref)
        }
    }

    /// Withdraws services of a manager, with one Service Changed.
    private mutating func withdraw(
        _ ids: [AttributeID], of ref: Ref<Manager>, _ server: Ref<Device>, areLocal: Bool = true
    ) {
        let published = managers[ref]?.published ?? [:]
        let gone = areLocal ? ids.compactMap { published[$0] } : ids
        let services = gone.filter { id in
            if case .service? = devices[server]?.database[id]?.role { true } else { false }
        }
        removeServices(services, of: server)
        guard let database = devices[server]?.database else { return }
        let left = published.filter { database[$0.value] != nil }
        managers[ref]?.published = left
        managers[ref]?.services.removeAll { left[$0.id] == nil }
        for link in devices[server]?.links ?? [] { settleCredits(of: ref, on: link) }
    }

    /// A manager is gone, and with it all that it published.
    mutating func withdrawAll(of ref: Ref<Manager>) {
        guard managers[ref]?.role == .peripheral, let host = managers[ref]?.host, let server = hosts[host].server
        else { return }
        stopAdvertising(ref, server)
        closeListeners(of: ref, on: host, server)
        withdraw(devices[server]?.database.publishedServices(by: ref) ?? [], of: ref, server, areLocal: false)
        failRequests(of: ref, server)
    }

    mutating func closeListeners(of ref: Ref<Manager>, on host: Int, _ server: Ref<Device>) {
        for (psm, listener) in hosts[host].listeners where listener.manager == ref { hosts[host].listeners[psm] = nil }
        for link in devices[server]?.links ?? [] { closeChannels(of: ref, on: link) }
    }

    /// The requests that a manager left open fail, as it is gone.
    mutating func failRequests(of ref: Ref<Manager>, _ server: Ref<Device>) {
        for link in devices[server]?.links ?? [] where links[link]?.pendingRequest?.manager == ref {
            guard let asked = links[link]?.pendingRequest else { continue }
            links[link]?.pendingRequest = nil
            stopTransactionTimeout(link)
            fail(asked.operation, .unlikelyError, on: link, "request")
        }
    }

    // MARK: Advertising

    mutating func startAdvertising(
        _ advertisement: Advertisement, _ operation: OperationID?, _ ref: Ref<Manager>, _ server: Ref<Device>
    ) {
        guard let sets = devices[server]?.sets else { return }
        let slot = sets.firstIndex { $0.manager == ref } ?? sets.firstIndex { $0.manager == nil } ?? sets.count
        guard slot < configuration.maximumAdvertisingSets else {
            guard let operation else { return trace.note("advertising not restored: no room", at: now) }
            let error = BackendError(.outOfSpace, operation: "advertise")
            return emit(PeripheralEvent.operationFailed(operation: operation, error: error), to: ref)
        }
        var set = Device.AdvertisingSet(advertisement, of: ref)
        if slot < sets.count {
            set.generation = sets[slot].generation + 1
            devices[server]?.sets[slot] = set
        } else {
            devices[server]?.sets.append(set)
        }
        managers[ref]?.advertisement = advertisement
        if let name = advertisement.localName, let host = devices[server]?.host {
            setDeviceName(name, ofAnonymous: host)
        }
        if let operation { emit(PeripheralEvent.advertisingStarted(operation: operation), to: ref) }
        wake(server)
    }

    private mutating func stopAdvertising(_ ref: Ref<Manager>, _ server: Ref<Device>) {
        guard let index = devices[server]?.sets.firstIndex(where: { $0.manager == ref }) else { return }
        managers[ref]?.advertisement = nil
        freeSet(index, of: server)
    }

    private mutating func freeSet(_ index: Int, of server: Ref<Device>) {
        devices[server]?.sets[index].manager = nil
        devices[server]?.sets[index].isEnabled = false
    }
}

extension Device.AdvertisingSet {
    /// What a manager advertises: connectable, and going on while centrals are connected.
    ///
    /// The name goes into the scan response where it does not fit beside the rest.
    init(_ advertisement: Advertisement, of manager: Ref<Manager>) {
        var data = AdvertisingData(
            localName: advertisement.localName, txPowerLevel: advertisement.txPowerLevel,
            services: advertisement.serviceUUIDs ?? [], solicitedServices: advertisement.solicitedServiceUUIDs ?? [],
            serviceData: advertisement.serviceData ?? [:], manufacturerData: advertisement.manufacturerData)
        var scanResponse: AdvertisingData?
        if data.encodedLength > 28, let name = advertisement.localName {
            data.localName = nil
            scanResponse = AdvertisingData(localName: name)
        }
        self.init(AdvertisingDescription(data, scanResponse: scanResponse, continuesWhileConnected: true))
        self.advertisement.overflowServiceUUIDs = advertisement.overflowServiceUUIDs
        self.manager = manager
    }
}
