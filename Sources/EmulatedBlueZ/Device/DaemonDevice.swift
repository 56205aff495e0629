#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothSupport
import DequeModule

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

    /// The adapter's own link, as the central.
    struct OpenLink: Sendable {
        let id: LinkID
        var mtu: Int
        var credits: Int
        /// Whether responses are withheld because this side refused to pair.
        var isMute = false
        /// The write commands that wait for the controller.
        var commands = Deque<(attribute: AttributeID, value: Data)>()
        /// The requests that wait for the last of the commands.
        var requests: [(operation: OperationID, request: LinkRequest)] = []
    }

    /// The state of the device's advertising packets, and of the reports to clients.
    struct Heard: Sendable {
        var isConnectable = true
        var services: [BluetoothUUID] = []
        /// The signal strength that clients know; nil while no client discovers.
        var rssi: Int?
        var lastPacket = Duration.zero
        var lastReport = Duration.zero
    }

    /// The links with the device, in both roles, and their pending changes.
    struct Connection: Sendable {
        var connect: PendingConnect?
        var disconnect: PendingDisconnect?
        var link: OpenLink?
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

    let peer: PeerID
    let path: ObjectPath
    /// The address under which the device was first heard; its identity address after bonding.
    var address: String
    var isRandom: Bool
    /// The name as clients see it; nil if the device has no name.
    private(set) var name: String?
    var alias: String?
    /// Whether the device is forgotten after a while without a packet.
    var isTemporary = true
    var heard = Heard()
    var connection = Connection()
    var security = Security()
    var database = RemoteDatabase()
    var discovery: ServiceDiscovery?

    init(peer: PeerID, path: ObjectPath, address: String, isRandom: Bool) {
        (self.peer, self.path, self.address, self.isRandom) = (peer, path, address, isRandom)
    }

    /// Sets the name that was received from the device.
    mutating func setName(_ received: String) {
        let shown = ReceivedName.shown(received)
        name = shown.isEmpty ? nil : shown
    }

    var isConnected: Bool { connection.link != nil || connection.isCentral }

    /// Whether the sessions of a characteristic are registered on the present link, which `bluetoothd` does as soon as
    /// it knows the services.
    func isArmed(_ characteristic: RemoteDatabase.Characteristic) -> Bool {
        characteristic.isSubscribed || (connection.link != nil && discovery == nil)
    }

    /// Whether the device must stay, regardless of the time since its last packet.
    var isInUse: Bool { isConnected || connection.connect != nil || security.pairing != nil }

    /// Whether the address changes from time to time; such a device stays temporary until it is bonded.
    var hasPrivateAddress: Bool {
        isRandom && address.first.flatMap { $0.hexDigitValue }.map { $0 & 0xC != 0xC } == true
    }

    static func path(of address: String, on adapter: ObjectPath) -> ObjectPath {
        adapter.appending("dev_" + address.split(separator: ":").joined(separator: "_"))
    }
}

extension BluetoothUUID {
    /// The UUID with all 128 bits, in lower case, as BlueZ writes it.
    var bluez: String { BluetoothUUID(value: value).text.lowercased() }
}

extension BluetoothDaemon {
    // MARK: Objects

    /// Adds a bonded device of the host before it is heard.
    mutating func addDevice(_ bond: PeerFacts, on index: Int) {
        var device = DaemonDevice(
            peer: bond.peer, path: DaemonDevice.path(of: bond.address, on: adapters[index].path), address: bond.address,
            isRandom: bond.isRandom)
        if let name = bond.name { device.setName(name) }
        (device.security.isBonded, device.security.isPaired, device.isTemporary) = (true, true, false)
        add(device, on: index)
    }

    mutating func add(_ device: DaemonDevice, on index: Int) {
        adapters[index].devices[device.peer] = device
        adapters[index].peers[device.path] = device.peer
        let interfaces = bearer(of: device, on: index).merging(
            [BlueZInterfaces.device: properties(of: device, on: index)]) { $1 }
        tree.add(interfaces, at: device.path)
    }

    private func properties(of device: DaemonDevice, on index: Int) -> ObjectTree.Properties {
        var properties: ObjectTree.Properties = [
            "Address": .string(device.address), "AddressType": .string(device.isRandom ? "random" : "public"),
            "Alias": .string(alias(of: device)), "Paired": .boolean(device.security.isPaired),
            "Bonded": .boolean(device.security.isBonded), "Trusted": .boolean(false), "Blocked": .boolean(false),
            "LegacyPairing": .boolean(false), "Connected": .boolean(device.isConnected),
            "Adapter": .objectPath(adapters[index].path), "UUIDs": .strings([]), "ServicesResolved": .boolean(false),
        ]
        if let name = device.name { properties["Name"] = .string(name) }
        if dialect >= .bluez5_87 { properties["CablePairing"] = .boolean(false) }
        return properties
    }

    /// The alias that the user gave, else the device's name, else the address with dashes.
    private func alias(of device: DaemonDevice) -> String {
        device.alias ?? device.name ?? device.address.split(separator: ":").joined(separator: "-")
    }

    /// Shows the identity address that a device with a private address disclosed; the object keeps its path.
    mutating func showIdentity(_ facts: PeerFacts, on index: Int) {
        guard let device = adapters[index].devices[facts.peer], device.address != facts.address else { return }
        adapters[index].devices[facts.peer]?.address = facts.address
        adapters[index].devices[facts.peer]?.isRandom = facts.isRandom
        set("Address", .string(facts.address), of: BlueZInterfaces.device, at: device.path)
        set(
            "AddressType", .string(facts.isRandom ? "random" : "public"), of: BlueZInterfaces.device, at: device.path)
    }

    mutating func setName(_ name: String?, of peer: PeerID, on index: Int) {
        guard let name, var device = adapters[index].devices[peer] else { return }
        device.setName(name)
        adapters[index].devices[peer] = device
        set("Name", device.name.map { .string($0) }, of: BlueZInterfaces.device, at: device.path)
        set("Alias", .string(alias(of: device)), of: BlueZInterfaces.device, at: device.path)
    }

    /// Shows the advertised services and the discovered ones.
    mutating func showServices(of peer: PeerID, on index: Int) {
        guard let device = adapters[index].devices[peer] else { return }
        // Generic Access and Generic Attribute have no objects, but are listed.
        let own = device.database.services.isEmpty ? [] : [BluetoothUUID(0x1800), BluetoothUUID(0x1801)]
        let uuids = Set(device.heard.services + own + device.database.services.values.map(\.record.uuid))
        set("UUIDs", .strings(uuids.map(\.bluez).sorted()), of: BlueZInterfaces.device, at: device.path)
    }

    /// Forgets a device, and removes its objects, the deepest first.
    mutating func removeObjects(of peer: PeerID, on index: Int) {
        guard let device = adapters[index].devices[peer] else { return }
        failOperations(of: peer, on: index)
        removeAttributes(of: peer, on: index)
        monitorsLose(peer, device.path, on: index)
        removeBattery(at: device.path)
        remove(device.path)
        adapters[index].devices[peer] = nil
        adapters[index].peers[device.path] = nil
        if let link = device.connection.link { adapters[index].linkTable.links[link.id] = nil }
    }

    // MARK: Properties

    mutating func setDeviceProperty(
        _ property: String, _ value: DBusValue, of peer: PeerID, on index: Int, _ call: ClientCall
    ) throws(DBusError) {
        guard let device = adapters[index].devices[peer] else {
            throw BlueZError.unknown(call, isObjectThere: false)
        }
        switch (property, value) {
        case ("Alias", .string(let alias)):
            adapters[index].devices[peer]?.alias = alias.isEmpty ? nil : alias
            guard let device = adapters[index].devices[peer] else { return }
            set(property, .string(self.alias(of: device)), of: BlueZInterfaces.device, at: device.path)
        case ("Trusted", .boolean(let isTrusted)):
            if isTrusted { adapters[index].devices[peer]?.isTemporary = false }
            set(property, value, of: BlueZInterfaces.device, at: device.path)
        case ("Blocked", .boolean(let isBlocked)):
            adapters[index].devices[peer]?.security.isBlocked = isBlocked
            set(property, value, of: BlueZInterfaces.device, at: device.path)
            if isBlocked { closeLinks(with: peer, on: index) }
        default: set(property, value, of: BlueZInterfaces.device, at: device.path)
        }
        answer(call.id)
    }
}
#endif
