public import BluetoothBackend

/// The preserved state of a central manager whose app the system terminated, in a world file.
///
/// The host connects to the peers and subscribes without the app. The next manager with the identifier receives that
/// state in `willRestoreState`.
public struct PreservedCentralDescription: Hashable, Sendable {
    /// A peer that is connected, or to which the host connects.
    public struct Peer: Hashable, Sendable {
        /// The device, by name or address.
        public var device: String
        /// The characteristics that the app subscribed to.
        public var subscriptions: [BluetoothUUID]

        /// Creates a peer.
        public init(device: String, subscriptions: [BluetoothUUID] = []) {
            self.device = device
            self.subscriptions = subscriptions
        }
    }

    /// The manager's restore identifier.
    public var identifier: String
    /// The active scan.
    public var scan: ScanParameters?
    /// The peers.
    public var peers: [Peer]

    /// Creates a preserved state.
    public init(identifier: String, scan: ScanParameters? = nil, peers: [Peer] = []) {
        self.identifier = identifier
        self.scan = scan
        self.peers = peers
    }

    func validate(path: String, devices: [PeripheralDescription]?) throws(DescriptionError) {
        try require(!identifier.isEmpty, "\(path).identifier", "an identifier is not empty")
        guard let devices else { return }
        for (index, peer) in peers.enumerated() {
            let device = devices[try devices.index(of: peer.device, path: "\(path).peers[\(index)].device")]
            let uuids = device.services.flatMap(\.characteristics).map(\.uuid)
            for uuid in peer.subscriptions where !uuids.contains(uuid) {
                throw DescriptionError(
                    "\(path).peers[\(index)].subscriptions", "\(peer.device) has no characteristic \(uuid)")
            }
        }
    }
}

extension [PeripheralDescription] {
    /// Returns the index of the device with a name or an address.
    ///
    /// - Throws: ``DescriptionError`` if no device matches, or several have the name.
    func index(of device: String, path: String) throws(DescriptionError) -> Int {
        if let index = firstIndex(where: { $0.effectiveAddress.description == device.uppercased() }) { return index }
        let named = indices.filter { self[$0].name == device }
        guard let index = named.first else { throw DescriptionError(path, "there is no device \"\(device)\"") }
        guard named.count == 1 else {
            let addresses = named.prefix(3).map { self[$0].effectiveAddress.description }.joined(separator: ", ")
            let rest = named.count > 3 ? " and others" : ""
            throw DescriptionError(
                path, "\(named.count) devices are named \"\(device)\": name one by its address, \(addresses)\(rest)")
        }
        return index
    }
}

extension PreservedCentralDescription: WorldFileObject {
    static let fields = FieldTable(
        PreservedCentralDescription(identifier: ""),
        .required("identifier", \.identifier),
        .custom(
            "scan", read: { $0.scan = try ($1.value() as PreservedScan?)?.parameters },
            write: { $0.scan.map { PreservedScan(parameters: $0) } }),
        .value("peers", \.peers))
}

extension PreservedCentralDescription.Peer: WorldFileObject {
    static let fields = FieldTable(
        PreservedCentralDescription.Peer(device: ""),
        .required("device", \.device),
        .value("subscriptions", \.subscriptions, .list(.uuid)))
}

/// A scan in a world file.
struct PreservedScan: WorldFileObject {
    static let fields = FieldTable(
        PreservedScan(parameters: ScanParameters()),
        .value("services", \.parameters.services, .list(.uuid)),
        .value("solicitedServices", \.parameters.solicitedServices, .list(.uuid)),
        .value("duplicates", \.parameters.allowDuplicates))

    var parameters: ScanParameters
}

/// The preserved state of a peripheral manager whose app the system terminated, in a world file.
///
/// The services stay published and the advertisement stays on the air for the next manager with the identifier, whose
/// delegate receives them in `willRestoreState`. Until then, requests remain unanswered.
public struct PreservedPeripheralDescription: Hashable, Sendable {
    /// The manager's restore identifier.
    public var identifier: String
    /// The published services; a characteristic with a value is static, one without a value asks the app.
    public var services: [ServiceDescription]
    /// The active advertisement: a name and services.
    public var advertisement: AdvertisingData?

    /// Creates a preserved state.
    public init(identifier: String, services: [ServiceDescription] = [], advertisement: AdvertisingData? = nil) {
        self.identifier = identifier
        self.services = services
        self.advertisement = advertisement
    }

    func validate(path: String) throws(DescriptionError) {
        try require(!identifier.isEmpty, "\(path).identifier", "an identifier is not empty")
        var database = AttributeDatabase()
        for (path, service) in services.located(at: "\(path).services") {
            try service.validate(path: path)
            _ = try database.add(service, path: path)
            for (path, part) in service.characteristics.located(at: "\(path).characteristics") {
                try require(part.timer == nil && !part.echo, path, "the app answers: there is no timer and no echo")
            }
        }
        if let advertisement {
            let own = AdvertisingData(localName: advertisement.localName, services: advertisement.services)
            try require(advertisement == own, "\(path).advertisement", "an app advertises a localName and services")
        }
    }

    /// The services in the form in which a manager publishes them, with its own numbers.
    var definitions: [ServiceDefinition] {
        var last: UInt32 = 0
        func next() -> AttributeID {
            last += 1
            return AttributeID(rawValue: last)
        }
        var published: [ServiceDefinition] = []
        for service in services {
            let id = next()
            let included = service.includes.compactMap { path in
                published.filter { $0.uuid == path.uuid }.dropFirst(path.index).first?.id
            }
            let characteristics = service.characteristics.map { part in
                ServiceDefinition.Characteristic(
                    id: next(), uuid: part.uuid, properties: part.properties,
                    permissions: part.effectivePermissions, staticValue: part.value.isEmpty ? nil : part.value,
                    descriptors: part.descriptors.map { .init(id: next(), uuid: $0.uuid, value: $0.value) })
            }
            published.append(
                ServiceDefinition(
                    id: id, uuid: service.uuid, isPrimary: service.isPrimary, included: included,
                    characteristics: characteristics))
        }
        return published
    }
}

extension PreservedPeripheralDescription: WorldFileObject {
    static let fields = FieldTable(
        PreservedPeripheralDescription(identifier: ""),
        .required("identifier", \.identifier),
        .value("services", \.services),
        .value("advertisement", \.advertisement))
}
