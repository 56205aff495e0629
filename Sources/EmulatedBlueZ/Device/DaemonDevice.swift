#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothSupport
import DequeModule

/// A device that an adapter heard, is connected to or is bonded with.
struct DaemonDevice: Sendable {
    /// A `Connect` that is under way, for a client or for a pairing.
    struct PendingConnect: Sendable {
        let operation: OperationID
        /// The client's call; nil where a pairing needs the link.
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
        /// The keys are there; the reply waits for the services.
        var isPaired = false
    }

    /// The adapter's own link, as the central.
    struct OpenLink: Sendable {
        let id: LinkID
        var mtu: Int
        var credits: Int
        /// Whether responses are withheld: this side refused to pair.
        var isMute = false
        /// The write commands that wait for the controller.
        var commands = Deque<(attribute: AttributeID, value: Data)>()
        /// The requests that wait for the last of the commands.
        var requests: [(operation: OperationID, request: LinkRequest)] = []
    }

    /// The state of its advertising packets, and of the reports to clients.
    struct Heard: Sendable {
        var isConnectable = true
        var services: [BluetoothUUID] = []
        /// The signal strength that clients know; nil while no one discovers.
        var rssi: Int?
        var lastPacket = Duration.zero
        var lastReport = Duration.zero
    }

    /// The links with it, in both roles, and what changes them.
    struct Connection: Sendable {
        var connect: PendingConnect?
        var disconnect: PendingDisconnect?
        var link: OpenLink?
        /// Whether it is a central that is connected to the adapter's services.
        var isCentral = false
        /// Whether this side ends the link of that central.
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
    /// The address under which it was first heard, and its identity address once it is bonded.
    var address: String
    var isRandom: Bool
    /// The name, as clients see it; nil while there is none.
    private(set) var name: String?
    var alias: String?
    /// Whether it is forgotten when it was not heard for a while.
    var isTemporary = true
    var heard = Heard()
    var connection = Connection()
    var security = Security()
    var database = RemoteDatabase()
    var discovery: ServiceDiscovery?

    init(peer: PeerID, path: ObjectPath, address: String, isRandom: Bool) {
        (self.peer, self.path, self.address, self.isRandom) = (peer, path, address, isRandom)
    }

    /// Takes the name that was received of it.
    mutating func setName(_ received: String) {
        let shown = ReceivedName.shown(received)
        name = shown.isEmpty ? nil : shown
    }

    var isConnected: Bool { connection.link != nil || connection.isCentral }

    /// Whether the sessions of a characteristic are registered on the present link: `bluetoothd` does so as soon as it
    /// knows the services.
    func isArmed(_ characteristic: RemoteDatabase.Characteristic) -> Bool {
        characteristic.isSubscribed || (connection.link != nil && discovery == nil)
    }

    /// Whether it must stay, however long it was not heard.
    var isInUse: Bool { isConnected || connection.connect != nil || security.pairing != nil }

    /// Whether the address changes from time to time: such a device stays temporary until it is bonded.
    var hasPrivateAddress: Bool {
        isRandom && address.first.flatMap { $0.hexDigitValue }.map { $0 & 0xC != 0xC } == true
    }

    static func path(of address: String, on adapter: ObjectPath) -> ObjectPath {
        adapter.appending("dev_" + address.split(separator: ":").joined(separator: "_"))
    }
}

extension BluetoothUUID {
    /// All 128 bits, in lower case, as BlueZ writes them.
    var bluez: String { BluetoothUUID(value: value).text.lowercased() }
}

extension BluetoothDaemon {
    // MARK: Objects

    /// A device that the host is bonded with, before it was heard.
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

    /// The name that the user gave, else its own, else the address with dashes.
    private func alias(of device: DaemonDevice) -> String {
        device.alias ?? device.name ?? device.address.split(separator: ":").joined(separator: "-")
    }

    /// A device with a private address disclosed its identity address: the object keeps its path.
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

    /// The services that it advertises, and those that it was found to have.
    mutating func showServices(of peer: PeerID, on index: Int) {
        guard let device = adapters[index].devices[peer] else { return }
        // Generic Access and Generic Attribute have no objects, but are listed.
        let own = device.database.services.isEmpty ? [] : [BluetoothUUID(0x1800), BluetoothUUID(0x1801)]
        let uuids = Set(device.heard.services + own + device.database.services.values.map(\.record.uuid))
        set("UUIDs", .strings(uuids.map(\.bluez).sorted()), of: BlueZInterfaces.device, at: device.path)
    }

    /// Forgets a device: its objects go, the deepest first.
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
