public import BluetoothBackend

/// A host of a world: an adapter that managers can be on.
public struct HostDescription: Hashable, Sendable, Codable {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case name, address, powered, authorization, addressRotation, centrals, peripherals
    }

    /// The name by which managers choose it.
    public var name: String
    /// Its address; nil derives one from the name.
    public var address: DeviceAddress?
    /// Whether it is on at first.
    public var isPowered: Bool
    /// Whether apps may use it at first.
    public var authorization: AuthorizationStatus
    /// How often it takes a new private address, 1 s or more; nil keeps its address.
    ///
    /// Phones and computers do so every 15 minutes or so.
    public var addressRotation: Duration?
    /// What it keeps of central managers whose apps ended.
    public var centrals: [PreservedCentralDescription]
    /// What it keeps of peripheral managers whose apps ended.
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

    /// Reads a host of a world file.
    public init(from decoder: any Decoder) throws {
        let fields = try StrictContainer(decoder, keyedBy: CodingKeys.self)
        self.init(
            name: try fields.required(.name),
            address: try fields.text(.address, TextRule.address) { DeviceAddress($0) },
            isPowered: try fields.optional(.powered) ?? true,
            authorization: try fields.text(
                .authorization, "the permissions are notDetermined, restricted, denied, allowed"
            ) { AuthorizationStatus(rawValue: $0) } ?? .allowed,
            addressRotation: try fields.text(.addressRotation, TextRule.duration, DurationText.parse),
            centrals: try fields.optional(.centrals) ?? [], peripherals: try fields.optional(.peripherals) ?? [])
    }

    /// Writes a host of a world file; what is as by default is left out.
    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(name, forKey: .name)
        try fields.encodeIfPresent(address?.description, forKey: .address)
        if !isPowered { try fields.encode(isPowered, forKey: .powered) }
        if authorization != .allowed { try fields.encode(authorization, forKey: .authorization) }
        try fields.encodeIfPresent(addressRotation.map(DurationText.text), forKey: .addressRotation)
        if !centrals.isEmpty { try fields.encode(centrals, forKey: .centrals) }
        if !peripherals.isEmpty { try fields.encode(peripherals, forKey: .peripherals) }
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
