#if BlueZ && os(Linux)
import BlueZ
import BluetoothDBus
import Dispatch
import Foundation

#if Emulator
import EmulatedBlueZ
#endif

/// A probe that queries the bus and the daemon, each question with a deadline.
struct SystemProbe {
    private static let daemonName = "org.bluez"

    let limit: Duration

    func facts() async -> SystemReport {
        let address = DBusAddress.system
        var facts = SystemReport(
            busAddress: address.text ?? "", bus: .yes, kernelControllers: SystemFacts.controllers(),
            switches: SystemFacts.switches(),
            user: SystemReport.User(
                name: SystemFacts.user(), isRoot: geteuid() == 0, groups: SystemFacts.groups(),
                systemHasBluetoothGroup: SystemFacts.hasGroup("bluetooth")))
        #if Emulator
        facts.hasBusProgram = PrivateMessageBus.isInstalled
        #endif
        do throws(DBusError) {
            let connection = try await open(address)
            defer { connection.close() }
            await ask(connection, &facts)
        } catch {
            facts.bus = .error(name: error.name, message: error.message)
        }
        return facts
    }

    /// Returns the process that owns a name, `bluetoothd, process 812`; nil if the bus does not know it, or the owner
    /// has left.
    func owner(of name: String, at address: DBusAddress) async -> String? {
        guard let connection = try? await open(address) else { return nil }
        defer { connection.close() }
        let reply = try? await bus(connection, "GetConnectionUnixProcessID", [.string(name)])
        guard let process = reply?.first?.uint32Value else { return nil }
        let file = FileManager.default.contents(atPath: "/proc/\(process)/comm") ?? Data()
        let program = String(decoding: file, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        return (program.isEmpty ? "" : program + ", ") + "process \(process)"
    }

    private func open(_ address: DBusAddress) async throws(DBusError) -> DBusConnection {
        try await DBusConnection.open(address, queue: DispatchQueue(label: "bluectl.doctor"), deadline: limit)
    }

    private func ask(_ connection: DBusConnection, _ facts: inout SystemReport) async {
        do throws(DBusError) {
            let names = try await bus(connection, "ListActivatableNames")
            facts.isActivatable = names.first?.stringsValue?.contains(Self.daemonName)
        } catch {
            facts.isActivatable = nil
        }
        do throws(DBusError) {
            // Starts the daemon if it can be started; a running daemon is not affected.
            if facts.isActivatable == true {
                _ = try await bus(connection, "StartServiceByName", [.string(Self.daemonName), .uint32(0)])
            }
            _ = try await bus(connection, "GetNameOwner", [.string(Self.daemonName)])
            facts.daemon = .yes
            let process = try await bus(connection, "GetConnectionUnixProcessID", [.string(Self.daemonName)])
            facts.daemonProcess = process.first?.uint32Value
        } catch {
            if facts.daemon == nil { facts.daemon = .error(name: error.name, message: error.message) }
        }
        guard facts.daemon == .yes else { return }
        do throws(DBusError) {
            let objects = try await connection.call(
                to: Self.daemonName, path: .root, interface: "org.freedesktop.DBus.ObjectManager",
                member: "GetManagedObjects", deadline: limit)
            facts.adapters = Self.adapters(objects)
            facts.devices = Self.devices(objects)
            facts.objects = .yes
        } catch {
            facts.objects = .error(name: error.name, message: error.message)
        }
    }

    private func bus(
        _ connection: DBusConnection, _ member: String, _ body: [DBusValue] = []
    ) async throws(DBusError) -> [DBusValue] {
        try await connection.call(
            to: BusDriver.name, path: BusDriver.path, interface: BusDriver.name, member: member, body, deadline: limit)
    }

    /// Returns the adapters among the managed objects, `a{oa{sa{sv}}}`; omits values of another shape.
    static func adapters(_ reply: [DBusValue]) -> [SystemReport.Adapter] {
        objects(reply, "org.bluez.Adapter1").compactMap { path, properties, interfaces in
            guard let name = path.split(separator: "/").last else { return nil }
            let version = properties["Modalias"]?.stringValue.flatMap(DaemonVersion.init(modalias:))
            return SystemReport.Adapter(
                name: String(name), address: properties["Address"]?.stringValue,
                alias: properties["Alias"]?.stringValue, isPowered: properties["Powered"]?.boolValue,
                powerState: properties["PowerState"]?.stringValue, isDiscovering: properties["Discovering"]?.boolValue,
                roles: properties["Roles"]?.stringsValue, interfaces: interfaces, properties: Set(properties.keys),
                daemonVersion: version?.description,
                crashesOnServiceFilter: version?.crashesOnServiceFilter ?? false)
        }
        .sorted { $0.name < $1.name }
    }

    /// Returns the devices among the managed objects, by address.
    static func devices(_ reply: [DBusValue]) -> [KnownDevice] {
        let adapters = objects(reply, "org.bluez.Adapter1").compactMap { path, properties, _ in
            properties["Address"]?.stringValue.map { (path, $0) }
        }
        let addresses = Dictionary(adapters) { first, _ in first }
        return objects(reply, "org.bluez.Device1").compactMap { _, properties, _ in
            guard let address = properties["Address"]?.stringValue,
                let adapter = properties["Adapter"]?.pathValue.flatMap({ addresses["\($0)"] })
            else { return nil }
            let isRandom = properties["AddressType"]?.stringValue == "random"
            let device = DeviceRecord(
                identifier: PeerIdentity.identifier(adapter: adapter, address: address, isRandom: isRandom),
                address: address, name: properties["Alias"]?.stringValue)
            return KnownDevice(
                device: device, isPaired: properties["Paired"]?.boolValue ?? false,
                isConnected: properties["Connected"]?.boolValue ?? false)
        }
        .sorted { $0.device.address ?? "" < $1.device.address ?? "" }
    }

    /// Returns the objects that have an interface: path, its properties there, all its interfaces.
    private static func objects(
        _ reply: [DBusValue], _ interface: String
    ) -> [(path: String, properties: [String: DBusValue], interfaces: Set<String>)] {
        guard case .dictionary(let objects) = reply.first else { return [] }
        return objects.entries.compactMap { entry in
            guard let path = entry.key.pathValue, case .dictionary(let interfaces) = entry.value else { return nil }
            let own = interfaces.entries.first { $0.key.stringValue == interface }
            guard let properties = own?.value.propertiesValue else { return nil }
            return ("\(path)", properties, Set(interfaces.entries.compactMap { $0.key.stringValue }))
        }
    }
}
#endif
