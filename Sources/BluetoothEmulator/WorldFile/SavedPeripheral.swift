import BluetoothBackend

/// What a host keeps of a peripheral manager whose app the system ended: a part of a saved world.
///
/// The services stay published and the advertisement stays on the air for the next manager with the identifier, whose
/// delegate gets them in `willRestoreState`. Nobody answers requests until it comes.
public struct SavedPeripheral: Hashable, Sendable {
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

extension SavedPeripheral: Codable {
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
