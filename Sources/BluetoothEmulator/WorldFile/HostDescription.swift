public import BluetoothBackend

/// A host of a world: an adapter that managers can be on.
public struct HostDescription: Hashable, Sendable {
    /// The name by which managers choose it.
    public var name: String
    /// Its address; nil derives one from the name.
    public var address: DeviceAddress?
    /// Whether it is on at first.
    public var isPowered: Bool
    /// Whether apps may use it at first.
    public var authorization: AuthorizationStatus
    /// The period after which it takes a new private address, 1 s or more; nil for a fixed address.
    ///
    /// Phones and computers do so every 15 minutes or so.
    public var addressRotation: Duration?
    /// The preserved states of central managers whose apps were terminated.
    public var centrals: [PreservedCentralDescription]
    /// The preserved states of peripheral managers whose apps were terminated.
    public var peripherals: [PreservedPeripheralDescription]

    /// A host.
    public init(
        name: String, address: DeviceAddress? = nil, isPowered: Bool = true,
        authorization: AuthorizationStatus = .allowed, addressRotation: Duration? = nil,
        centrals: [PreservedCentralDescription] = [], peripherals: [PreservedPeripheralDescription] = []
    ) {
        self.centrals = centrals
        self.peripherals = peripherals
        self.addressRotation = addressRotation
        self.name = name
        self.address = address
        self.isPowered = isPowered
        self.authorization = authorization
    }

    /// Checks the host; in a world file, against the devices.
    ///
    /// - Throws: ``DescriptionError`` naming field and rule.
    func validate(path: String = "", devices: [PeripheralDescription]? = nil) throws(DescriptionError) {
        guard !name.isEmpty else { throw DescriptionError("\(path)name", "a host has a name") }
        if let addressRotation, addressRotation < .seconds(1) {
            throw DescriptionError("\(path)addressRotation", "an address is kept for 1 s or more")
        }
        for (index, central) in centrals.enumerated() {
            try central.validate(path: "\(path)centrals[\(index)]", devices: devices)
            guard !centrals[..<index].contains(where: { $0.identifier == central.identifier }) else {
                throw DescriptionError("\(path)centrals[\(index)].identifier", "another manager has the identifier")
            }
        }
        for (index, peripheral) in peripherals.enumerated() {
            try peripheral.validate(path: "\(path)peripherals[\(index)]")
            guard !peripherals[..<index].contains(where: { $0.identifier == peripheral.identifier }) else {
                throw DescriptionError("\(path)peripherals[\(index)].identifier", "another manager has the identifier")
            }
        }
    }
}

extension HostDescription: Codable {
    static let fields = FieldTable(
        HostDescription(name: ""),
        .required("name", \.name),
        .text("address", \.address, .address),
        .value("powered", \.isPowered),
        .text(
            "authorization", \.authorization,
            .name("permissions", of: [.notDetermined, .restricted, .denied, .allowed])),
        .text("addressRotation", \.addressRotation, .duration),
        .value("centrals", \.centrals),
        .value("peripherals", \.peripherals))

    /// Reads a host of a world file.
    public init(from decoder: any Decoder) throws { self = try Self.fields.read(decoder) }

    /// Writes a host of a world file, without the fields that have their defaults.
    public func encode(to encoder: any Encoder) throws { try Self.fields.write(self, encoder) }
}
