import BluetoothDBus
import BluetoothEmulator
import BluetoothSupport
import ScriptedBlueZ

@testable import EmulatedBlueZ

/// A program on the bus that uses BlueZ with plain calls.
struct BusClient: Sendable {
    /// The deadline of a call, which the speed of the machine must not reach.
    private static let deadline = Duration.seconds(600)

    let connection: DBusConnection

    init(_ bus: PrivateBus) async throws {
        connection = try await DBusConnection.open(bus)
    }

    @discardableResult
    func call(
        _ member: String, _ arguments: DBusValue..., on path: ObjectPath, _ interface: String
    ) async throws(DBusError) -> [DBusValue] {
        try await connection.call(
            to: "org.bluez", path: path, interface: "org.bluez." + interface, member: member, arguments,
            deadline: Self.deadline)
    }

    /// All objects, with the properties of their interfaces.
    func objects() async throws(DBusError) -> [(path: ObjectPath, interfaces: [String: [String: DBusValue]])] {
        let reply = try await connection.call(
            to: "org.bluez", path: .root, interface: "org.freedesktop.DBus.ObjectManager", member: "GetManagedObjects",
            deadline: Self.deadline)
        return ApplicationDescription.objects(in: reply.first).map { (path: $0.0, interfaces: $0.1) }
    }

    /// The path of a device's characteristic with a 16-bit UUID.
    func characteristic(_ uuid: String, of device: ObjectPath) async throws(DBusError) -> ObjectPath? {
        try await objects().first { path, interfaces in
            path.isBelow(device)
                && interfaces[BlueZInterfaces.characteristic]?["UUID"]?.stringValue?.hasPrefix("0000" + uuid) == true
        }?.path
    }

    /// The present value of a property.
    func get(_ name: String, of interface: String, at path: ObjectPath) async throws(DBusError) -> DBusValue? {
        let values = try await connection.call(
            to: "org.bluez", path: path, interface: "org.freedesktop.DBus.Properties", member: "Get",
            [.string("org.bluez." + interface), .string(name)], deadline: Self.deadline)
        guard case .variant(let value)? = values.first else { return nil }
        return value
    }

    /// Repeats a condition until it is true.
    func wait(until condition: () async throws -> Bool) async throws {
        for _ in 0..<5_000 {
            if try await condition() { return }
        }
        throw CancellationError()
    }

    /// Exports objects, and answers the calls of the daemon.
    func export(_ objects: DBusValue, advertisement: [String: DBusValue] = [:]) -> ReceivedCalls {
        let received = ReceivedCalls()
        connection.onCall { call in
            received.members.withLock { $0.append(call.member) }
            if call.member == "WriteValue" { received.writes.withLock { $0.append(call.arguments) } }
            switch call.member {
            case "GetManagedObjects": call.answer([objects])
            case "GetAll": call.answer([.properties(advertisement)])
            default: call.answer()
            }
        }
        return received
    }

    /// Sends a signal of a standard interface.
    func send(_ member: String, of interface: String, at path: ObjectPath, _ body: DBusValue...) throws(DBusError) {
        try connection.send(
            .signal(path: path, interface: "org.freedesktop.DBus." + interface, member: member, body))
    }

    func close() { connection.close() }
}

/// The calls that a program received from the daemon.
final class ReceivedCalls: Sendable {
    let members = Lock<[String]>([])
    /// The arguments of the `WriteValue` calls.
    let writes = Lock<[[DBusValue]]>([])

    func count(_ member: String) -> Int { members.withLock { $0.count { $0 == member } } }
}

extension ObjectPath {
    static let bluez = ObjectPath("/org/bluez") ?? .root
    static let hci0 = ObjectPath("/org/bluez/hci0") ?? .root
    static let hci1 = ObjectPath("/org/bluez/hci1") ?? .root
    /// The built-in heart rate monitor.
    static let monitor = ObjectPath("/org/bluez/hci0/dev_C0_DE_00_00_18_0D") ?? .root
}

/// A world on a private bus, with the built-in devices by default.
struct ServedFixture {
    let bus: PrivateBus
    let emulator: Emulator
    let service: EmulatedBlueZ

    init(
        _ world: WorldDescription = .builtIn, limits: [String: Int] = [:], time: EmulatorTime = .real,
        configuration: EmulatorConfiguration = .instant, hosts: [HostDescription] = [],
        dialect: BlueZDialect = .bluez5_66, isExperimental: Bool = false
    ) async throws {
        bus = try PrivateBus(limits: limits)
        emulator = try Emulator(world: world, configuration: configuration, time: time)
        for host in hosts { try emulator.add(host) }
        service = try await EmulatedBlueZ.serve(
            emulator, on: bus.address.text,
            configuration: EmulatedBlueZConfiguration(
                dialect: dialect, isExperimental: isExperimental, disconnectDelay: .zero))
    }

    /// Returns a client that has found a device, by default the heart rate monitor.
    func client(finding device: ObjectPath = .monitor) async throws -> BusClient {
        let client = try await BusClient(bus)
        try await client.call("StartDiscovery", on: .hci0, "Adapter1")
        try await client.wait { (try? await client.get("Address", of: "Device1", at: device)) != nil }
        return client
    }

    /// Connects a device and waits for its services.
    func connect(_ client: BusClient, to device: ObjectPath = .monitor) async throws {
        try await client.call("Connect", on: device, "Device1")
        try await client.wait {
            try await client.get("ServicesResolved", of: "Device1", at: device) == .boolean(true)
        }
    }
}
