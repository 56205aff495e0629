public import BluetoothBackend

/// The preserved state of a central manager whose app the system terminated, in a world file.
///
/// The host connects to the peers and subscribes without the app. The next manager with the identifier gets that in
/// `willRestoreState`.
public struct PreservedCentralDescription: Hashable, Sendable {
    /// A peer that is connected, or that the host connects to.
    public struct Peer: Hashable, Sendable {
        /// The device, by name or address.
        public var device: String
        /// The characteristics that the app subscribed to.
        public var subscriptions: [BluetoothUUID]

        /// A peer.
        public init(device: String, subscriptions: [BluetoothUUID] = []) {
            self.device = device
            self.subscriptions = subscriptions
        }
    }

    /// The manager's restore identifier.
    public var identifier: String
    /// The scan that was running.
    public var scan: ScanParameters?
    /// The peers.
    public var peers: [Peer]

    /// A preserved state.
    public init(identifier: String, scan: ScanParameters? = nil, peers: [Peer] = []) {
        self.identifier = identifier
        self.scan = scan
        self.peers = peers
    }

    func validate(path: String, devices: [PeripheralDescription]?) throws(DescriptionError) {
        guard !identifier.isEmpty else { throw DescriptionError("\(path).identifier", "an identifier is not empty") }
        guard let devices else { return }
        for (index, peer) in peers.enumerated() {
            let device = devices.first { $0.name == peer.device || $0.effectiveAddress.description == peer.device }
            guard let device else {
                throw DescriptionError("\(path).peers[\(index)].device", "there is no device \"\(peer.device)\"")
            }
            let uuids = device.services.flatMap(\.characteristics).map(\.uuid)
            for uuid in peer.subscriptions where !uuids.contains(uuid) {
                throw DescriptionError(
                    "\(path).peers[\(index)].subscriptions", "\(peer.device) has no characteristic \(uuid)")
            }
        }
    }
}

extension PreservedCentralDescription: Codable {
    static let fields = FieldTable(
        PreservedCentralDescription(identifier: ""),
        .required("identifier", \.identifier),
        .custom(
            "scan", read: { $0.scan = try ($1.value() as PreservedScan?)?.parameters },
            write: { $0.scan.map(PreservedScan.init) }),
        .value("peers", \.peers))

    /// Reads the preserved state of a central manager of a world file.
    public init(from decoder: any Decoder) throws { self = try Self.fields.read(decoder) }

    /// Writes the preserved state of a central manager of a world file, without the fields that have their defaults.
    public func encode(to encoder: any Encoder) throws { try Self.fields.write(self, encoder) }
}

extension PreservedCentralDescription.Peer: Codable {
    static let fields = FieldTable(
        PreservedCentralDescription.Peer(device: ""),
        .required("device", \.device),
        .value("subscriptions", \.subscriptions))

    /// Reads a peer of a world file.
    public init(from decoder: any Decoder) throws { self = try Self.fields.read(decoder) }

    /// Writes a peer of a world file, without the fields that have their defaults.
    public func encode(to encoder: any Encoder) throws { try Self.fields.write(self, encoder) }
}

/// A scan of a world file.
struct PreservedScan: Codable {
    static let fields = FieldTable(
        PreservedScan(ScanParameters()),
        .value("services", \.parameters.services),
        .value("solicitedServices", \.parameters.solicitedServices),
        .value("duplicates", \.parameters.allowDuplicates))

    var parameters: ScanParameters

    init(_ parameters: ScanParameters) { self.parameters = parameters }

    init(from decoder: any Decoder) throws { self = try Self.fields.read(decoder) }

    func encode(to encoder: any Encoder) throws { try Self.fields.write(self, encoder) }
}

/// The preserved state of a peripheral manager whose app the system terminated, in a world file.
///
/// The services stay published and the advertisement stays on the air for the next manager with the identifier, whose
/// delegate gets them in `willRestoreState`. Requests are not answered until then.
public struct PreservedPeripheralDescription: Hashable, Sendable {
    /// The manager's restore identifier.
    public var identifier: String
    /// The published services; a characteristic with a value is static, one without asks the app.
    public var services: [ServiceDescription]
    /// The advertisement that was running: a name and services.
    public var advertisement: AdvertisingData?

    /// A preserved state.
    public init(identifier: String, services: [ServiceDescription] = [], advertisement: AdvertisingData? = nil) {
        self.identifier = identifier
        self.services = services
        self.advertisement = advertisement
    }

    func validate(path: String) throws(DescriptionError) {
        guard !identifier.isEmpty else { throw DescriptionError("\(path).identifier", "an identifier is not empty") }
        var database = AttributeDatabase()
        for (index, service) in services.enumerated() {
            let place = "\(path).services[\(index)]"
            try service.validate(path: place)
            _ = try database.add(service, path: place)
            for (position, characteristic) in service.characteristics.enumerated() {
                guard characteristic.timer == nil, !characteristic.echo else {
                    throw DescriptionError(
                        "\(place).characteristics[\(position)]", "the app answers: there is no timer and no echo")
                }
            }
        }
        if let advertisement {
            let own = AdvertisingData(localName: advertisement.localName, services: advertisement.services)
            guard advertisement == own else {
                throw DescriptionError("\(path).advertisement", "an app advertises a localName and services")
            }
        }
    }

    /// The services as a manager publishes them, with its own numbers.
    var definitions: [ServiceDefinition] {
        var last: UInt32 = 0
        func next() -> AttributeID {
            last += 1
            return AttributeID(rawValue: last)
        }
        var published: [ServiceDefinition] = []
        for service in services {
            let id = next()
            let included = service.includes.compactMap { uuid in published.first { $0.uuid == uuid }?.id }
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

extension PreservedPeripheralDescription: Codable {
    static let fields = FieldTable(
        PreservedPeripheralDescription(identifier: ""),
        .required("identifier", \.identifier),
        .value("services", \.services),
        .value("advertisement", \.advertisement))

    /// Reads the preserved state of a peripheral manager of a world file.
    public init(from decoder: any Decoder) throws { self = try Self.fields.read(decoder) }

    /// Writes the preserved state of a peripheral manager of a world file, without the fields that have their defaults.
    public func encode(to encoder: any Encoder) throws { try Self.fields.write(self, encoder) }
}
