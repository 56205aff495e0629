public import BluetoothSupport

/// A whole world as data: what a world file holds, in JSON.
///
/// Its schema is `Schemas/world.schema.json`.
public struct WorldDescription: Hashable, Sendable, Codable {
    static let fields = FieldTable(
        WorldDescription(),
        // For editors.
        .custom("$schema", read: { _, _ in }, write: { _ in nil as String? }),
        .value("hosts", \.hosts),
        .value("devices", \.devices))

    /// The hosts.
    ///
    /// There is always one named "default".
    public var hosts: [HostDescription]
    /// The devices.
    public var devices: [PeripheralDescription]

    /// A world.
    public init(hosts: [HostDescription] = [], devices: [PeripheralDescription] = []) {
        self.hosts = hosts
        self.devices = devices
    }

    /// Reads a world file's object.
    public init(from decoder: any Decoder) throws { self = try Self.fields.read(decoder) }

    /// Writes a world file's object, without the fields that have their defaults.
    public func encode(to encoder: any Encoder) throws { try Self.fields.write(self, encoder) }

    /// Reads JSON and checks the world.
    ///
    /// - Throws: ``DescriptionError`` naming place, path and rule.
    public init(json: Data) throws(DescriptionError) {
        do throws(DescriptionError) {
            self = try Self.decoded(json)
            try validate()
        } catch {
            throw error.located(in: Array(json))
        }
    }

    private static func decoded(_ json: Data) throws(DescriptionError) -> WorldDescription {
        do {
            return try JSONDecoder().decode(WorldDescription.self, from: json)
        } catch let error as DecodingError {
            throw DescriptionError(error)
        } catch {
            throw DescriptionError("", "\(error)")
        }
    }

    /// Reads a file of JSON and checks the world.
    ///
    /// - Throws: ``DescriptionError`` naming file, place, path and rule.
    public init(contentsOfFile file: String) throws(DescriptionError) {
        let json: Data
        do {
            json = try Data(contentsOf: URL(fileURLWithPath: file))
        } catch {
            throw DescriptionError("", "the file cannot be read: \(error)").inFile(file)
        }
        do throws(DescriptionError) {
            try self.init(json: json)
        } catch {
            throw error.inFile(file)
        }
    }

    /// The world as JSON, with sorted keys.
    public func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(self)
    }

    /// Checks the world.
    ///
    /// - Throws: ``DescriptionError`` naming path and rule.
    public func validate() throws(DescriptionError) {
        for (index, host) in hosts.enumerated() {
            try host.validate(path: "hosts[\(index)].", devices: devices)
            guard !hosts[..<index].contains(where: { $0.name == host.name }) else {
                throw DescriptionError("hosts[\(index)].name", "another host has the name \"\(host.name)\"")
            }
        }
        for (index, device) in devices.enumerated() {
            try device.validate(path: "devices[\(index)]")
            try device.validateParameters(path: "devices[\(index)].")
            guard !devices[..<index].contains(where: { $0.effectiveAddress == device.effectiveAddress }) else {
                throw DescriptionError(
                    "devices[\(index)].address", "another device has the address \(device.effectiveAddress)")
            }
        }
    }
}
