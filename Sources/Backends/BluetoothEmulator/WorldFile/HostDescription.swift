public import BluetoothBackend
import BluetoothValues

/// A host of a world: an adapter for managers.
public struct HostDescription: Hashable, Sendable {
    /// The name by which managers choose the host.
    public var name: String
    /// The address; nil derives one from the name.
    public var address: DeviceAddress?
    /// Whether the adapter is on at first.
    public var isPowered: Bool
    /// The initial permission of apps.
    public var authorization: AuthorizationStatus
    /// The period after which the host changes to a new private address, 1 s or more; nil for a fixed address.
    ///
    /// Phones and computers do this about every 15 minutes.
    public var addressRotation: Duration?
    /// The largest ATT MTU of the host's links, in both roles, 23...517 bytes; nil uses
    /// ``EmulatorConfiguration/maximumMTU``.
    public var maximumMTU: Int?
    /// The port at which a host outside of the emulator attaches, in place of managers; nil for none.
    ///
    /// `bluectl world` opens it. The derived address of such a host is a public one.
    public var hci: HCIPortAddress?
    /// The preserved states of central managers whose apps were terminated.
    public var centrals: [PreservedCentralDescription]
    /// The preserved states of peripheral managers whose apps were terminated.
    public var peripherals: [PreservedPeripheralDescription]

    /// Creates a description of a host.
    public init(
        name: String, address: DeviceAddress? = nil, isPowered: Bool = true,
        authorization: AuthorizationStatus = .allowed, addressRotation: Duration? = nil, maximumMTU: Int? = nil,
        hci: HCIPortAddress? = nil, centrals: [PreservedCentralDescription] = [],
        peripherals: [PreservedPeripheralDescription] = []
    ) {
        self.centrals = centrals
        self.peripherals = peripherals
        self.addressRotation = addressRotation
        self.maximumMTU = maximumMTU
        self.hci = hci
        self.name = name
        self.address = address
        self.isPowered = isPowered
        self.authorization = authorization
    }

    /// Checks the host.
    ///
    /// - Throws: ``DescriptionError`` naming the field and the rule.
    func validate() throws(DescriptionError) { try checks(path: "", devices: nil).run() }

    /// The checks of the host's rules; in a world file, also against the devices.
    func checks(path: String, devices: [PeripheralDescription]?) -> [RuleCheck] {
        let prefix = path.isEmpty ? "" : path + "."
        let isTaken = { @Sendable (_: String) in "another manager has the identifier" }
        var checks = [
            RuleCheck("\(prefix)name", "a host has a name", !name.isEmpty),
            RuleCheck(
                "\(prefix)addressRotation", "an address is kept for 1 s or more",
                addressRotation ?? .seconds(1) >= .seconds(1)),
            RuleCheck(
                "\(prefix)maximumMTU", "an MTU is 23...517 bytes",
                (ATTLimits.minimumMTU...ATTLimits.maximumMTU).contains(maximumMTU ?? ATTLimits.minimumMTU)),
            RuleCheck("\(prefix)centrals") { () throws(DescriptionError) in
                try requireUnique(centrals, "\(prefix)centrals", "identifier", isTaken, \.identifier)
            },
            RuleCheck("\(prefix)peripherals") { () throws(DescriptionError) in
                try requireUnique(peripherals, "\(prefix)peripherals", "identifier", isTaken, \.identifier)
            },
        ]
        for (path, part) in centrals.located(at: "\(prefix)centrals") {
            checks.append(
                RuleCheck(path) { () throws(DescriptionError) in try part.validate(path: path, devices: devices) })
        }
        for (path, part) in peripherals.located(at: "\(prefix)peripherals") {
            checks.append(RuleCheck(path) { () throws(DescriptionError) in try part.validate(path: path) })
        }
        return checks
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
        .value("maximumMTU", \.maximumMTU),
        .value("hci", \.hci, .port),
        .value("centrals", \.centrals),
        .value("peripherals", \.peripherals))
}
