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
        try require(!name.isEmpty, "\(path)name", "a host has a name")
        try require(
            addressRotation ?? .seconds(1) >= .seconds(1), "\(path)addressRotation",
            "an address is kept for 1 s or more")
        let isTaken = { (_: String) in "another manager has the identifier" }
        for (path, part) in centrals.located(at: "\(path)centrals") { try part.validate(path: path, devices: devices) }
        try requireUnique(centrals, "\(path)centrals", "identifier", isTaken, \.identifier)
        for (path, part) in peripherals.located(at: "\(path)peripherals") { try part.validate(path: path) }
        try requireUnique(peripherals, "\(path)peripherals", "identifier", isTaken, \.identifier)
    }
}

extension HostDescription: WorldFileObject {
    static let fields = FieldTable(
        HostDescription(name: ""),
        .required("name", \.name),
        .value("address", \.address, .address),
        .value("powered", \.isPowered),
        .value(
            "authorization", \.authorization,
            .name("permissions", of: [.notDetermined, .restricted, .denied, .allowed])),
        .value("addressRotation", \.addressRotation, .duration),
        .value("centrals", \.centrals),
        .value("peripherals", \.peripherals))
}
