#if os(Linux)
public import BluetoothDBus
import BluetoothSupport
import Synchronization

/// The peripheral side of a scripted `org.bluez`: accepts applications and advertisements, reads them as BlueZ does
/// before it answers, and calls them as BlueZ does for its centrals.
public final class ScriptedPeripherals: Sendable {
    /// A registered application.
    public struct Application: Sendable {
        /// The program that registered it.
        public let owner: String
        /// The path of its root.
        public let root: String
        /// The objects that it has listed: properties by interface and path.
        public let objects: [String: ScriptedService.Interfaces]
    }

    /// A registered advertisement.
    public struct Advertisement: Sendable {
        /// The program that registered it.
        public let owner: String
        /// The path of its object.
        public let path: String
        /// Its properties.
        public let properties: [String: DBusValue]
    }

    private static let gatt = "org.bluez.GattManager1"
    private static let advertising = "org.bluez.LEAdvertisingManager1"
    private static let properties = "org.freedesktop.DBus.Properties"

    private let service: ScriptedService
    /// All registered applications.
    public let applications = Recorder<Application>()
    /// All registered advertisements.
    public let advertisements = Recorder<Advertisement>()
    /// The paths of unregistered applications and advertisements.
    public let unregistered = Recorder<String>()

    /// Answers the managers of a daemon's adapters.
    public init(of daemon: ScriptedBlueZ) {
        service = daemon.service
        service.on(Self.gatt, "RegisterApplication") { [weak self] call in
            self?.takeApplication(call)
            return .none
        }
        service.on(Self.advertising, "RegisterAdvertisement") { [weak self] call in
            self?.takeAdvertisement(call)
            return .none
        }
        for (interface, member) in [
            (Self.gatt, "UnregisterApplication"), (Self.advertising, "UnregisterAdvertisement"),
        ] {
            service.on(interface, member) { [weak self] call in
                self?.unregistered.append(call.body.first?.pathValue?.text ?? "")
                return .values([])
            }
        }
    }

    // MARK: Registering

    private func takeApplication(_ call: ScriptedCall) {
        let root = call.body.first?.pathValue?.text ?? ""
        Task {
            do {
                let listed = try await service.call(
                    call.sender, root, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects")
                let objects = Self.objects(listed.first)
                guard !objects.isEmpty else { return refuse(call, "No object received") }
                applications.append(Application(owner: call.sender, root: root, objects: objects))
                service.answer(call, with: .values([]))
            } catch {
                refuse(call, "\(error)")
            }
        }
    }

    private func takeAdvertisement(_ call: ScriptedCall) {
        let path = call.body.first?.pathValue?.text ?? ""
        Task {
            do {
                let all = try await service.call(
                    call.sender, path, Self.properties, "GetAll", [.string("org.bluez.LEAdvertisement1")])
                let properties = all.first?.propertiesValue ?? [:]
                // Flags and the header of the list leave 26 bytes; a 16-bit UUID takes two.
                guard (properties["ServiceUUIDs"]?.stringsValue ?? []).count <= 13 else {
                    return refuse(call, "Failed to parse advertisement.")
                }
                advertisements.append(Advertisement(owner: call.sender, path: path, properties: properties))
                service.answer(call, with: .values([]))
            } catch {
                refuse(call, "\(error)")
            }
        }
    }

    private func refuse(_ call: ScriptedCall, _ text: String) {
        service.answer(call, with: .error(DBusError(name: "org.bluez.Error.Failed", message: text)))
    }

    private static func objects(_ listed: DBusValue?) -> [String: ScriptedService.Interfaces] {
        guard case .dictionary(let dictionary)? = listed else { return [:] }
        var objects: [String: ScriptedService.Interfaces] = [:]
        for object in dictionary.entries {
            guard let path = object.key.pathValue, case .dictionary(let interfaces) = object.value else { continue }
            for interface in interfaces.entries {
                objects[path.text, default: [:]][interface.key.stringValue ?? ""] = interface.value.propertiesValue
            }
        }
        return objects
    }

    // MARK: Centrals

    /// Returns the path of a registered characteristic or descriptor, by its UUID.
    public func path(of uuid: String) -> String? {
        applications.elements.last { $0.path(of: uuid) != nil }?.path(of: uuid)
    }

    /// Calls a method of a registered object, as the daemon.
    public func call(
        _ path: String, _ member: String, _ body: [DBusValue] = [], on interface: String = "GattCharacteristic1"
    ) async throws -> [DBusValue] {
        guard let owner = (applications.elements.map(\.owner) + advertisements.elements.map(\.owner)).last else {
            return []
        }
        return try await service.call(owner, path, "org.bluez." + interface, member, body)
    }

    /// Returns the options of a call for a central.
    public static func options(_ device: String, mtu: UInt16 = 185) -> DBusValue {
        .properties([
            "device": .objectPath(ObjectPath(device) ?? .root), "mtu": .uint16(mtu), "link": .string("LE"),
        ])
    }
}

extension ScriptedPeripherals.Application {
    fileprivate func path(of uuid: String) -> String? {
        objects.first { $0.value.values.contains { $0["UUID"] == .string(uuid) } }?.key
    }
}
#endif
