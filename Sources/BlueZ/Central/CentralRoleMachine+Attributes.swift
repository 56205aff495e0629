#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothValues

/// Discovery of attributes: BlueZ discovers by itself at each connection, and this reads its objects.
extension CentralRoleMachine {
    // MARK: Resolution

    /// Whether a link's attributes are known; if not, starts a timer that waits for them or ends the link.
    mutating func isResolved(_ peer: PeerID) -> Bool {
        guard let link = links[peer] else { return false }
        guard objects.devices[link.path]?.isServicesResolved == true else {
            if !link.services.areAwaitingResolution {
                links[peer]?.services.areAwaitingResolution = true
                start(.resolution(peer), timings.resolution)
            }
            return false
        }
        // BlueZ pitfall: services may appear later than `ServicesResolved`
        // (https://github.com/bluez/bluez/issues/1489).
        if link.services.areFinal || objects.hasAttributes(below: link.path) { return true }
        if !link.services.areAwaited {
            links[peer]?.services.areAwaited = true
            start(.awaitingServices(peer), timings.awaitingServices)
        }
        return false
    }

    mutating func resolvedChanged(_ peer: PeerID) {
        guard let link = links[peer], objects.devices[link.path]?.isServicesResolved == true else { return }
        stop(.resolution(peer))
        links[peer]?.services.areAwaitingResolution = false
        let mtu = currentMTU(of: link.path)
        if mtu != link.mtu { setMTU(peer, mtu) }
        runOperations(peer)
    }

    /// Ends a link whose services were not resolved in time.
    ///
    /// BlueZ pitfall: discovery may never end (https://github.com/hbldh/bleak/issues/1841).
    ///
    /// An ATT client whose request gets no answer must end the link (Core Specification, Vol 3, Part F, 3.3.3).
    mutating func resolutionTimedOut(_ peer: PeerID) {
        log(.warning, "services of \(peer) were not resolved in \(timings.resolution)")
        abandonLink(peer, reason: .timeout)
    }

    /// Ends the wait for announced services: requests a snapshot, whose attributes count as complete.
    ///
    /// If the daemon sends no snapshot in time either, the known attributes count as complete.
    mutating func servicesAwaited(_ peer: PeerID) {
        guard let link = links[peer], link.services.areAwaited else { return }
        guard !link.services.areRefreshing else { return endAwaitingServices(peer) }
        links[peer]?.services.areRefreshing = true
        start(.awaitingServices(peer), timings.snapshot)
        refresh()
    }

    mutating func snapshotTaken() {
        // A link that is not among the objects does not exist.
        connects.unconfirmed = []
        for (peer, link) in links where link.services.areAwaited { endAwaitingServices(peer) }
    }

    private mutating func endAwaitingServices(_ peer: PeerID) {
        stop(.awaitingServices(peer))
        links[peer]?.services.areAwaited = false
        links[peer]?.services.areFinal = true
        runOperations(peer)
    }

    // MARK: MTU

    /// Returns the MTU of a device's link.
    ///
    /// BlueZ pitfall: the MTU is a property of the characteristics, known after the exchange, and from 5.62 on
    /// (https://github.com/hbldh/bleak/issues/1165).
    func currentMTU(of device: ObjectPath) -> Int {
        guard objects.devices[device]?.isServicesResolved == true else { return ATTLimits.minimumMTU }
        for service in objects.attributes(of: device) {
            for characteristic in objects.attributes(of: service) {
                if let mtu = objects.characteristics[characteristic]?.mtu { return Int(mtu) }
            }
        }
        return ATTLimits.minimumMTU
    }

    mutating func mtuChanged(of device: ObjectPath, _ mtu: UInt16) {
        guard let peer = directory.peer(at: device), links[peer] != nil, links[peer]?.mtu != Int(mtu) else { return }
        setMTU(peer, Int(mtu))
    }

    private mutating func setMTU(_ peer: PeerID, _ mtu: Int) {
        links[peer]?.mtu = mtu
        for lease in ledger.leases(of: peer) {
            if let link = lease.link { deliver(lease.manager, .mtuChanged(link: link, mtu: mtu)) }
        }
    }

    // MARK: Responses

    /// Responds to a discovery from the objects.
    mutating func answerDiscovery(_ peer: PeerID, _ operation: LinkState.Operation) {
        guard let path = links[peer]?.path else { return }
        switch operation.command {
        case .request(_, _, .discoverServices(let uuids)):
            links[peer]?.services.areDelivered = true
            let records = services(of: path, peer).map(\.record).filter { isWanted($0.uuid, uuids) }
            respond(operation, .services(records))
        case .request(_, _, .discoverIncludedServices(let service, let uuids)):
            guard let path = object(service, peer, operation) else { return }
            let included = objects.services[path]?.includes.sorted() ?? []
            let records = included.compactMap { record(ofService: $0, peer) }.filter { isWanted($0.uuid, uuids) }
            respond(operation, .services(records))
        case .request(_, _, .discoverCharacteristics(let service, let uuids)):
            guard let path = object(service, peer, operation) else { return }
            let records = objects.attributes(of: path).compactMap { record(ofCharacteristic: $0, peer) }
                .filter { isWanted($0.uuid, uuids) }
            respond(operation, .characteristics(records))
        case .request(_, _, .discoverDescriptors(let characteristic)):
            guard let path = object(characteristic, peer, operation) else { return }
            let records = objects.attributes(of: path).compactMap { record(ofDescriptor: $0, peer) }
            respond(operation, .descriptors(records))
        default: break
        }
    }

    /// Returns the services of a device that apps may discover.
    mutating func services(of device: ObjectPath, _ peer: PeerID) -> [(path: ObjectPath, record: ServiceRecord)] {
        let paths = objects.attributes(of: device).filter { isApps($0) }
        return paths.compactMap { path in record(ofService: path, peer).map { (path, $0) } }
    }

    /// Whether apps may discover a service: it is primary, and not 1800 or 1801, which the host handles (S58).
    func isApps(_ service: ObjectPath) -> Bool {
        guard let service = objects.services[service], service.isPrimary else { return false }
        return service.uuid?.bits16 != 0x1800 && service.uuid?.bits16 != 0x1801
    }

    private func isWanted(_ uuid: BluetoothUUID, _ uuids: [BluetoothUUID]?) -> Bool {
        uuids?.contains(uuid) ?? true
    }

    /// Returns the object of an attribute; if it is gone, the operation fails.
    mutating func object(_ id: AttributeID, _ peer: PeerID, _ operation: LinkState.Operation) -> ObjectPath? {
        if let path = links[peer]?.attributes.path(of: id) { return path }
        endFailed(peer, operation, BackendError(.invalidHandle, operation: "attribute \(id)"))
        return nil
    }

    mutating func record(ofService path: ObjectPath, _ peer: PeerID) -> ServiceRecord? {
        guard let service = objects.services[path], let uuid = service.uuid,
            let id = links[peer]?.attributes.id(of: path)
        else { return nil }
        return ServiceRecord(id: id, uuid: uuid, isPrimary: service.isPrimary, handle: path.handle)
    }

    mutating func record(ofCharacteristic path: ObjectPath, _ peer: PeerID) -> CharacteristicRecord? {
        guard let characteristic = objects.characteristics[path], let uuid = characteristic.uuid,
            let id = links[peer]?.attributes.id(of: path)
        else { return nil }
        // The path has the declaration's handle, and the value's is the next (Core Specification, Vol 3, Part G, 3.3).
        return CharacteristicRecord(
            id: id, uuid: uuid, properties: characteristic.properties, handle: path.handle.map { $0 &+ 1 })
    }

    private mutating func record(ofDescriptor path: ObjectPath, _ peer: PeerID) -> DescriptorRecord? {
        guard let uuid = objects.descriptors[path]?.uuid, let id = links[peer]?.attributes.id(of: path) else {
            return nil
        }
        return DescriptorRecord(id: id, uuid: uuid, handle: path.handle)
    }
}

extension ObjectPath {
    /// The handle at the end of an attribute's path: `service0021`, `char0022`, `desc0024`.
    var handle: UInt16? {
        UInt16(lastElement.suffix(4), radix: 16)
    }
}
#endif
