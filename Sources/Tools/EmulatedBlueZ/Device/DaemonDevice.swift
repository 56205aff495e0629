#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothEmulator
import BluetoothSupport

/// A device that an adapter heard, is connected to or is bonded with.
struct DaemonDevice: Sendable {
    /// A connect in progress, for a client or for a pairing.
    struct PendingConnect: Sendable {
        let operation: OperationID
        /// The client's call; nil if a pairing needs the link.
        var call: ClientCall?
    }

    struct PendingDisconnect: Sendable {
        let number: UInt64
        var calls: [ClientCallID] = []
        /// The calls of the bearer's `Disconnect`.
        var bearerCalls: [ClientCallID] = []
    }

    struct PendingPairing: Sendable {
        let call: ClientCallID
        let sender: String
        let operation: OperationID
        /// Whether the keys exist; the reply then waits for the services.
        var isPaired = false
    }

    /// The state of the device's advertising packets, and of the reports to clients.
    struct Heard: Sendable {
        var isConnectable = true
        var services: [BluetoothUUID] = []
        /// The data received so far, which BlueZ retains: by company, by service UUID and by type.
        var manufacturerData: [UInt16: [UInt8]] = [:]
        var serviceData: [String: [UInt8]] = [:]
        var structures: [UInt8: [UInt8]] = [:]
        /// The signal strength that clients know; nil while no client discovers.
        var rssi: Int?
        var lastPacket = Duration.zero
        var lastReport = Duration.zero
    }

    /// The links with the device, in both roles, and their pending changes.
    struct Connection: Sendable {
        var connect: PendingConnect?
        var disconnect: PendingDisconnect?
        var link: DaemonLink?
        /// Whether the device is a central that is connected to the adapter's services.
        var isCentral = false
        /// Whether this side is ending the link of that central.
        var isClosingCentral = false
    }

    struct Security: Sendable {
        var isBonded = false
        var isPaired = false
        var isBlocked = false
        var pairing: PendingPairing?
    }

    let adapter: Int
    let peer: PeerID
    let path: ObjectPath
    /// The address under which the device was first heard; its identity address after bonding.
    var address: DeviceAddress
    /// The name as clients see it; nil if the device has no name.
    private(set) var name: String?
    var alias: String?
    /// Whether the device is forgotten after a while without a packet.
    var isTemporary = true
    var heard = Heard()
    var connection = Connection()
    var security = Security()
    var database = RemoteDatabase()

    init(_ facts: PeerFacts, on adapter: DaemonAdapter) {
        (self.adapter, peer, address) = (adapter.index, facts.peer, facts.address)
        path = adapter.path.appending("dev_" + address.description.split(separator: ":").joined(separator: "_"))
        if let name = facts.name { setName(name) }
    }

    /// Sets the name that was received from the device.
    private mutating func setName(_ received: String) {
        let shown = ReceivedName.shown(received)
        name = shown.isEmpty ? nil : shown
    }

    var isConnected: Bool { connection.link != nil || connection.isCentral }

    /// Whether the device must stay, regardless of the time since its last packet.
    var isInUse: Bool { isConnected || connection.connect != nil || security.pairing != nil }

    /// Whether the address changes from time to time; such a device stays temporary until it is bonded.
    var hasPrivateAddress: Bool { address.bits >> 46 == 0b01 }
}

extension BluetoothUUID {
    /// The UUID with all 128 bits, in lower case, as BlueZ writes it.
    var bluez: String { BluetoothUUID(value: value).text.lowercased() }
}

// The object of a device.
extension DaemonDevice {
    func export(_ context: inout DaemonContext) {
        var interfaces = bearerInterface(context)
        interfaces[BlueZInterfaces.device] = properties(context.dialect)
        context.tree.add(interfaces, at: path)
    }

    private func properties(_ dialect: BlueZDialect) -> ObjectTree.Properties {
        var properties: ObjectTree.Properties = [
            "Address": .string(address.description), "AddressType": .string(address.isRandom ? "random" : "public"),
            "Alias": .string(shownAlias), "Paired": .boolean(security.isPaired),
            "Bonded": .boolean(security.isBonded), "Trusted": .boolean(false), "Blocked": .boolean(false),
            "LegacyPairing": .boolean(false), "Connected": .boolean(isConnected),
            "Adapter": .objectPath(path.prefix(3)), "UUIDs": .strings([]), "ServicesResolved": .boolean(false),
        ]
        if let name { properties["Name"] = .string(name) }
        if dialect >= .bluez5_87 { properties["CablePairing"] = .boolean(false) }
        return properties
    }

    /// The alias that the user gave, else the device's name, else the address with dashes.
    private var shownAlias: String { alias ?? name ?? address.description.split(separator: ":").joined(separator: "-") }

    func set(_ property: String, _ value: DBusValue?, isRepeated: Bool = false, _ context: inout DaemonContext) {
        context.set(property, value, of: BlueZInterfaces.device, at: path, isRepeated: isRepeated)
    }

    /// The value of a property; nil if clients see none.
    func shown(_ property: String, _ context: DaemonContext) -> DBusValue? {
        context.tree.properties(of: BlueZInterfaces.device, at: path)?[property]
    }

    /// Shows the identity address that a device with a private address disclosed; the object keeps its path.
    mutating func showIdentity(_ facts: PeerFacts, _ context: inout DaemonContext) {
        guard address != facts.address else { return }
        address = facts.address
        set("Address", .string(address.description), &context)
        set("AddressType", .string(address.isRandom ? "random" : "public"), &context)
    }

    /// - Parameter isOwn: Whether the name is that of the device's database, which replaces an advertised one.
    mutating func nameChanged(_ name: String?, isOwn: Bool, _ context: inout DaemonContext) {
        if isOwn { database.deviceName = name }
        showName(name, &context)
    }

    mutating func showName(_ received: String?, _ context: inout DaemonContext) {
        guard let received else { return }
        setName(received)
        set("Name", name.map { .string($0) }, &context)
        set("Alias", .string(shownAlias), &context)
    }

    // MARK: Calls

    mutating func handleCall(_ call: ClientCall, isPowered: Bool, _ context: inout DaemonContext) throws(DBusError) {
        switch call.member {
        case "Connect": try connect(call, isPowered: isPowered, &context)
        case "Disconnect": disconnect(call, &context)
        case "Pair": try pair(call, isPowered: isPowered, &context)
        // A device without BR/EDR has no records to search, and none of its profiles is connected.
        case "ConnectProfile":
            let uuid = call.arguments.first?.stringValue ?? ""
            throw Self.connectingAProfileFails(uuid, isPowered: isPowered, context.dialect)
        case "DisconnectProfile": throw BlueZError.invalidArguments
        default: throw BlueZError.unknown(call, isObjectThere: true)
        }
    }

    private static func connectingAProfileFails(_ uuid: String, isPowered: Bool, _ dialect: BlueZDialect) -> DBusError {
        guard isPowered else { return BlueZError.notReady("br-connection-adapter-not-powered") }
        guard dialect >= .bluez5_82, !uuid.isEmpty, BluetoothUUID(uuid) == nil else {
            return BlueZError.failed("br-connection-sdp-search")
        }
        return BlueZError.invalidArguments("br-connection-invalid-argument")
    }

    mutating func setProperty(
        _ property: String, _ value: DBusValue, for call: ClientCall, _ context: inout DaemonContext
    ) {
        switch (property, value) {
        case ("Alias", .string(let alias)):
            self.alias = alias.isEmpty ? nil : alias
            set(property, .string(shownAlias), &context)
        case ("Trusted", .boolean(let isTrusted)):
            if isTrusted { isTemporary = false }
            set(property, value, &context)
        case ("Blocked", .boolean(let isBlocked)):
            security.isBlocked = isBlocked
            set(property, value, &context)
            if isBlocked { closeLinks(&context) }
        default: set(property, value, &context)
        }
        context.answer(call.id)
    }
}
#endif
