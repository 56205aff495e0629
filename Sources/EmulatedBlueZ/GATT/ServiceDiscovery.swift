#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// The discovery of a device's services, which the daemon performs after each connect.
struct ServiceDiscovery: Sendable {
    var outstanding: Set<OperationID> = []
    var services: [ServiceRecord] = []
    var includes: [AttributeID: [AttributeID]] = [:]
    var characteristics: [AttributeID: [CharacteristicRecord]] = [:]
    var descriptors: [AttributeID: [DescriptorRecord]] = [:]
}

extension BluetoothDaemon {
    mutating func discoverServices(of peer: PeerID, on index: Int) {
        adapters[index].devices[peer]?.discovery = ServiceDiscovery()
        send(.discoverServices(nil), for: .services, to: peer, on: index)
    }

    /// Sends a request on the link with a device, after the write commands that wait there.
    ///
    /// Source: BlueZ, `src/shared/att.c`, `pick_next_send_op`: a request is sent when no command is left.
    mutating func send(_ request: LinkRequest, for purpose: LinkPurpose, to peer: PeerID, on index: Int) {
        guard let link = adapters[index].devices[peer]?.connection.link else { return }
        let operation = nextOperation()
        adapters[index].linkTable.operations[operation] = (peer, purpose)
        if purpose.isDiscovery { adapters[index].devices[peer]?.discovery?.outstanding.insert(operation) }
        guard link.commands.isEmpty else {
            adapters[index].devices[peer]?.connection.link?.requests.append((operation, request))
            return
        }
        output(.central(adapter: index, .request(link: link.id, operation: operation, request)))
    }

    mutating func responded(_ response: LinkResponse, to operation: OperationID, on index: Int) {
        guard let (peer, purpose) = adapters[index].linkTable.operations[operation],
            adapters[index].devices[peer]?.connection.link?.isMute != true
        else { return }
        adapters[index].linkTable.operations[operation] = nil
        if purpose.isDiscovery {
            // The response may belong to a discovery that has been restarted since.
            guard adapters[index].devices[peer]?.discovery?.outstanding.remove(operation) != nil else { return }
            discovered(response, purpose, of: peer, on: index)
            if adapters[index].devices[peer]?.discovery?.outstanding.isEmpty == true {
                discoveryDone(peer, on: index)
            }
        } else {
            attributeResponded(response, purpose, of: peer, on: index)
        }
    }

    private mutating func discovered(
        _ response: LinkResponse, _ purpose: LinkPurpose, of peer: PeerID, on index: Int
    ) {
        switch (purpose, response) {
        case (.services, .services(let records)):
            adapters[index].devices[peer]?.discovery?.services += records
            for record in records { explore(record, of: peer, on: index) }
        case (.includes(let service), .services(let records)):
            guard !records.isEmpty else { return }
            adapters[index].devices[peer]?.discovery?.includes[service] = records.map(\.id)
            let known = adapters[index].devices[peer]?.discovery?.services.map(\.id) ?? []
            for record in records where !known.contains(record.id) {
                adapters[index].devices[peer]?.discovery?.services.append(record)
                explore(record, of: peer, on: index)
            }
        case (.characteristics(let service), .characteristics(let records)):
            adapters[index].devices[peer]?.discovery?.characteristics[service] = records
            for record in records {
                send(.discoverDescriptors(of: record.id), for: .descriptors(of: record.id), to: peer, on: index)
            }
        case (.descriptors(let characteristic), .descriptors(let records)):
            adapters[index].devices[peer]?.discovery?.descriptors[characteristic] = records
        default: break  // refused: the objects that it would have shown do not exist
        }
    }

    private mutating func explore(_ service: ServiceRecord, of peer: PeerID, on index: Int) {
        send(.discoverIncludedServices(of: service.id, nil), for: .includes(of: service.id), to: peer, on: index)
        send(.discoverCharacteristics(of: service.id, nil), for: .characteristics(of: service.id), to: peer, on: index)
    }

    /// Ends the discovery: exports new services and withdraws those that are gone.
    private mutating func discoveryDone(_ peer: PeerID, on index: Int) {
        guard let device = adapters[index].devices[peer], let discovery = device.discovery else { return }
        adapters[index].devices[peer]?.discovery = nil
        let found = Dictionary(discovery.services.map { ($0.id, $0) }) { first, _ in first }
        for id in device.database.services.keys.sorted() where found[id] != device.database.services[id]?.record {
            removeService(id, of: peer, on: index)
        }
        let services = found.values.sorted { ($0.handle ?? 0, $0.id) < ($1.handle ?? 0, $1.id) }
        for service in services where adapters[index].devices[peer]?.database.services[service.id] == nil {
            export(service, discovery, of: peer, on: index)
        }
        for service in services { showIncludes(discovery.includes[service.id] ?? [], of: service.id, peer, on: index) }
        showMTU(of: peer, on: index)
        showServices(of: peer, on: index)
        resumeSubscriptions(of: peer, on: index)
        set("ServicesResolved", .boolean(true), of: BlueZInterfaces.device, at: device.path)
        finishPairing(of: peer, on: index)
        readBatteryLevel(of: peer, on: index)
        readAppearance(of: peer, on: index)
    }

    // MARK: Objects

    private func handle(_ number: UInt16?, _ id: AttributeID) -> UInt16 {
        number ?? UInt16(truncatingIfNeeded: id.rawValue)
    }

    private func hexadecimal(_ handle: UInt16) -> String {
        let text = String(handle, radix: 16)
        return String(repeating: "0", count: 4 - text.count) + text
    }

    private mutating func export(
        _ service: ServiceRecord, _ discovery: ServiceDiscovery, of peer: PeerID, on index: Int
    ) {
        // Only the path: a copy of the device would copy its database with each service that is added to it.
        guard let device = adapters[index].devices[peer]?.path else { return }
        let handle = handle(service.handle, service.id)
        let path = device.appending("service" + hexadecimal(handle))
        var properties: ObjectTree.Properties = [
            "UUID": .string(service.uuid.bluez), "Device": .objectPath(device),
            "Primary": .boolean(service.isPrimary), "Includes": .objectPaths([]),
        ]
        if dialect >= .bluez5_82 { properties["Handle"] = .uint16(handle) }
        tree.add([BlueZInterfaces.service: properties], at: path)
        let characteristics = discovery.characteristics[service.id] ?? []
        adapters[index].devices[peer]?.database.attributes[path] = service.id
        adapters[index].devices[peer]?.database.services[service.id] = RemoteDatabase.Service(
            record: service, path: path, characteristics: characteristics.map(\.id))
        for characteristic in characteristics {
            export(characteristic, below: path, discovery.descriptors[characteristic.id] ?? [], of: peer, on: index)
        }
    }

    private mutating func export(
        _ characteristic: CharacteristicRecord, below service: ObjectPath, _ descriptors: [DescriptorRecord],
        of peer: PeerID, on index: Int
    ) {
        // The object is numbered by the declaration, which precedes the value.
        let declaration = handle(characteristic.handle, characteristic.id) &- 1
        let path = service.appending("char" + hexadecimal(declaration))
        let found = RemoteDatabase.Characteristic(
            record: characteristic, path: path, descriptors: descriptors.map(\.id))
        var properties: ObjectTree.Properties = [
            "UUID": .string(characteristic.uuid.bluez), "Service": .objectPath(service), "Value": .bytes([]),
            "Flags": .strings(characteristic.properties.bluezFlags),
            "MTU": .uint16(UInt16(clamping: adapters[index].devices[peer]?.connection.link?.mtu ?? 23)),
        ]
        if found.canNotify { properties["Notifying"] = .boolean(false) }
        if found.properties.contains(.notify) { properties["NotifyAcquired"] = .boolean(false) }
        if found.properties.contains(.writeWithoutResponse) { properties["WriteAcquired"] = .boolean(false) }
        if dialect >= .bluez5_82 { properties["Handle"] = .uint16(declaration) }
        tree.add([BlueZInterfaces.characteristic: properties], at: path)
        adapters[index].devices[peer]?.database.attributes[path] = characteristic.id
        adapters[index].devices[peer]?.database.characteristics[characteristic.id] = found
        for descriptor in descriptors { export(descriptor, below: path, of: peer, on: index) }
    }

    private mutating func export(
        _ descriptor: DescriptorRecord, below characteristic: ObjectPath, of peer: PeerID, on index: Int
    ) {
        let handle = handle(descriptor.handle, descriptor.id)
        let path = characteristic.appending("desc" + hexadecimal(handle))
        var properties: ObjectTree.Properties = [
            "UUID": .string(descriptor.uuid.bluez), "Characteristic": .objectPath(characteristic), "Value": .bytes([]),
        ]
        if dialect >= .bluez5_82 { properties["Handle"] = .uint16(handle) }
        tree.add([BlueZInterfaces.descriptor: properties], at: path)
        adapters[index].devices[peer]?.database.attributes[path] = descriptor.id
        adapters[index].devices[peer]?.database.descriptors[descriptor.id] = RemoteDatabase.Descriptor(
            record: descriptor, path: path)
    }

    private mutating func showIncludes(_ included: [AttributeID], of id: AttributeID, _ peer: PeerID, on index: Int) {
        guard let database = adapters[index].devices[peer]?.database, let service = database.services[id] else {
            return
        }
        let paths = included.compactMap { database.services[$0]?.path }
        set("Includes", .objectPaths(paths), of: BlueZInterfaces.service, at: service.path)
    }

    private mutating func showMTU(of peer: PeerID, on index: Int) {
        guard let device = adapters[index].devices[peer], let mtu = device.connection.link?.mtu else { return }
        for characteristic in device.database.characteristics.values.sorted(by: { $0.path < $1.path }) {
            set(
                "MTU", .uint16(UInt16(clamping: mtu)), of: BlueZInterfaces.characteristic, at: characteristic.path)
        }
    }

    /// Removes the MTU, which does not exist without a link.
    mutating func hideMTU(of peer: PeerID, on index: Int) {
        for characteristic in adapters[index].devices[peer]?.database.characteristics.values.map(\.path) ?? [] {
            tree.hide("MTU", of: BlueZInterfaces.characteristic, at: characteristic)
        }
    }

    mutating func mtuChanged(_ mtu: Int, _ link: LinkID, on index: Int) {
        guard let peer = adapters[index].linkTable.links[link] else { return }
        adapters[index].devices[peer]?.connection.link?.mtu = mtu
        showMTU(of: peer, on: index)
    }

    // MARK: Changes

    /// Withdraws the services that a device reports as removed, and discovers its services again.
    mutating func servicesChanged(_ link: LinkID, _ removed: [AttributeID], on index: Int) {
        guard let peer = adapters[index].linkTable.links[link] else { return }
        for id in removed { removeService(id, of: peer, on: index) }
        showServices(of: peer, on: index)
        discoverServices(of: peer, on: index)
    }

    private mutating func removeService(_ id: AttributeID, of peer: PeerID, on index: Int) {
        guard let database = adapters[index].devices[peer]?.database, let service = database.services[id] else {
            return
        }
        for id in service.characteristics {
            closeSockets(of: id, peer, on: index)
            guard let characteristic = database.characteristics[id] else { continue }
            for (call, _) in characteristic.starting { refuse(call, BlueZError.failed("Operation failed")) }
            for reads in [characteristic.reads]
                + characteristic.descriptors.compactMap({ database.descriptors[$0]?.reads })
            {
                refuseReads(reads)
            }
        }
        for path in adapters[index].devices[peer]?.database.remove(id) ?? [] { remove(path) }
    }

    /// Removes the objects of all attributes.
    mutating func removeAttributes(of peer: PeerID, on index: Int) {
        for id in (adapters[index].devices[peer]?.database.services.keys.sorted() ?? []).reversed() {
            removeService(id, of: peer, on: index)
        }
    }
}
#endif
