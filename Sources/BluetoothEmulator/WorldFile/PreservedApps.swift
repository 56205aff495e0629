public import BluetoothBackend

/// The preserved state of a central manager whose app the system terminated, in a world file.
///
/// The host goes on without the app: it connects to the peers, subscribes, and keeps that for the next manager with the
/// identifier, whose delegate gets it in `willRestoreState`.
public struct PreservedCentralDescription: Hashable, Sendable {
    /// A peer that is connected, or that the host goes on connecting to.
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

    /// What a host keeps.
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
    enum CodingKeys: String, CodingKey, CaseIterable {
        case identifier, scan, peers
    }

    /// Reads what a host of a world file keeps.
    public init(from decoder: any Decoder) throws {
        let fields = try StrictContainer(decoder, keyedBy: CodingKeys.self)
        let scan: PreservedScan? = try fields.optional(.scan)
        self.init(
            identifier: try fields.required(.identifier), scan: scan?.parameters,
            peers: try fields.optional(.peers) ?? [])
    }

    /// Writes what a host of a world file keeps.
    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(identifier, forKey: .identifier)
        try fields.encodeIfPresent(scan.map(PreservedScan.init), forKey: .scan)
        if !peers.isEmpty { try fields.encode(peers, forKey: .peers) }
    }
}

extension PreservedCentralDescription.Peer: Codable {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case device, subscriptions
    }

    /// Reads a peer of a world file.
    public init(from decoder: any Decoder) throws {
        let fields = try StrictContainer(decoder, keyedBy: CodingKeys.self)
        self.init(
            device: try fields.required(.device), subscriptions: try fields.optional(.subscriptions) ?? [])
    }

    /// Writes a peer of a world file.
    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(device, forKey: .device)
        if !subscriptions.isEmpty { try fields.encode(subscriptions, forKey: .subscriptions) }
    }
}

/// A scan as world files write it.
struct PreservedScan: Codable {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case services, solicitedServices, duplicates
    }

    let parameters: ScanParameters

    init(_ parameters: ScanParameters) { self.parameters = parameters }

    init(from decoder: any Decoder) throws {
        let fields = try StrictContainer(decoder, keyedBy: CodingKeys.self)
        parameters = ScanParameters(
            services: try fields.optional(.services), solicitedServices: try fields.optional(.solicitedServices) ?? [],
            allowDuplicates: try fields.optional(.duplicates) ?? false)
    }

    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encodeIfPresent(parameters.services, forKey: .services)
        if !parameters.solicitedServices.isEmpty {
            try fields.encode(parameters.solicitedServices, forKey: .solicitedServices)
        }
        if parameters.allowDuplicates { try fields.encode(true, forKey: .duplicates) }
    }
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

    /// What a host keeps.
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
    enum CodingKeys: String, CodingKey, CaseIterable {
        case identifier, services, advertisement
    }

    /// Reads what a host of a world file keeps.
    public init(from decoder: any Decoder) throws {
        let fields = try StrictContainer(decoder, keyedBy: CodingKeys.self)
        self.init(
            identifier: try fields.required(.identifier), services: try fields.optional(.services) ?? [],
            advertisement: try fields.optional(.advertisement))
    }

    /// Writes what a host of a world file keeps.
    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(identifier, forKey: .identifier)
        if !services.isEmpty { try fields.encode(services, forKey: .services) }
        try fields.encodeIfPresent(advertisement, forKey: .advertisement)
    }
}
