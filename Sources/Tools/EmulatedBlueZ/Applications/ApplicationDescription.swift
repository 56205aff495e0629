#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothSupport

/// An application as its client exports it: services with their characteristics and descriptors, and profiles.
///
/// Pure. Clients also export other kinds of objects, UUIDs of any length, and unknown properties. Everything that is
/// not part of a service is ignored.
///
/// Source: BlueZ, `src/gatt-database.c`, `doc/org.bluez.GattService.rst`.
struct ApplicationDescription: Sendable {
    struct Service: Sendable {
        let path: ObjectPath
        let uuid: BluetoothUUID
        let isPrimary: Bool
        let includes: [ObjectPath]
        var characteristics: [Characteristic] = []
    }

    struct Characteristic: Sendable {
        let path: ObjectPath
        let service: ObjectPath
        let uuid: BluetoothUUID
        let flags: AttributeFlagNames
        /// Whether the client gives a socket for its values.
        let acquiresNotify: Bool
        var descriptors: [Descriptor] = []
    }

    struct Descriptor: Sendable {
        let path: ObjectPath
        let characteristic: ObjectPath
        let uuid: BluetoothUUID
        let flags: AttributeFlagNames
    }

    static let profileInterface = "org.bluez.GattProfile1"

    private(set) var services: [Service] = []
    /// The profiles with which a client asks for connections to devices.
    private(set) var profiles: [ObjectPath] = []

    /// - Parameter managed: The reply to `GetManagedObjects`.
    /// - Throws: The error that `bluetoothd` returns for an application that it does not accept.
    init(_ managed: DBusValue?) throws(DBusError) {
        let objects = Self.objects(in: managed)
        guard !objects.isEmpty else { throw BlueZError.failed("No object received") }
        // Flags and owners are checked first, as in BlueZ, and everything else, such as UUIDs, only if these are valid.
        try Self.checkOwners(objects)
        guard objects.count <= DaemonLimits.attributes else { throw Self.noEntry }
        for (path, interfaces) in objects {
            if interfaces[Self.profileInterface] != nil { profiles.append(path) }
            if let properties = interfaces[BlueZInterfaces.service] {
                services.append(try Self.service(path, properties))
            }
        }
        for (path, interfaces) in objects {
            guard let properties = interfaces[BlueZInterfaces.characteristic] else { continue }
            var characteristic = try Self.characteristic(path, properties)
            characteristic.descriptors = try Self.descriptors(of: path, objects)
            guard let index = services.firstIndex(where: { $0.path == characteristic.service }) else { continue }
            services[index].characteristics.append(characteristic)
        }
        services = Self.includedFirst(services)
    }

    private static let noValidObject = BlueZError.failed("No valid service object found")
    private static let noEntry = BlueZError.failed("Failed to create entry in database")

    /// The objects with their interfaces and properties, in the order of the reply.
    static func objects(in managed: DBusValue?) -> [(ObjectPath, [String: [String: DBusValue]])] {
        guard case .dictionary(let dictionary)? = managed else { return [] }
        return dictionary.entries.compactMap { entry in
            guard let path = entry.key.pathValue else { return nil }
            return (path, interfaces(in: entry.value))
        }
    }

    /// The content of an `a{sa{sv}}`.
    static func interfaces(in value: DBusValue) -> [String: [String: DBusValue]] {
        guard case .dictionary(let dictionary) = value else { return [:] }
        return Dictionary(
            dictionary.entries.compactMap { entry in
                guard let name = entry.key.stringValue, let properties = entry.value.propertiesValue else { return nil }
                return (name, properties)
            }
        ) { $1 }
    }

    // MARK: Objects

    private typealias Objects = [(path: ObjectPath, interfaces: [String: [String: DBusValue]])]

    /// Checks that a service or profile exists, and that each attribute has flags and an existing owner.
    ///
    /// Source: BlueZ, `src/gatt-database.c`, `client_ready_cb`, `create_profile`, `chrc_create` and `desc_create`.
    private static func checkOwners(_ objects: Objects) throws(DBusError) {
        func paths(_ interface: String) -> Set<ObjectPath> {
            Set(objects.filter { $0.interfaces[interface] != nil }.map(\.path))
        }
        let (services, characteristics) = (paths(BlueZInterfaces.service), paths(BlueZInterfaces.characteristic))
        var isValid = !services.isEmpty || !paths(profileInterface).isEmpty
        for (_, interfaces) in objects {
            if let profile = interfaces[profileInterface] {
                isValid = isValid && profile["UUIDs"]?.stringsValue?.isEmpty == false
            }
            if let found = interfaces[BlueZInterfaces.characteristic] {
                let isOwned = found["Service"]?.pathValue.map(services.contains) == true
                isValid = isValid && isOwned && AttributeFlagNames(found["Flags"]) != nil
            }
            if let found = interfaces[BlueZInterfaces.descriptor] {
                let isOwned = found["Characteristic"]?.pathValue.map(characteristics.contains) == true
                isValid = isValid && isOwned && AttributeFlagNames(found["Flags"], ofDescriptor: true) != nil
            }
        }
        guard isValid else { throw noValidObject }
    }

    private static func service(
        _ path: ObjectPath, _ properties: [String: DBusValue]
    ) throws(DBusError) -> Service {
        guard let uuid = uuid(properties), let isPrimary = properties["Primary"]?.boolValue else { throw noEntry }
        // The requested handle of the service, whose value is ignored.
        if let handle = properties["Handle"], handle.uint16Value == nil { throw noEntry }
        var includes: [ObjectPath] = []
        switch properties["Includes"] {
        case .array(.objectPath, let paths)?: includes = paths.compactMap(\.pathValue).filter { $0 != path }
        case .array(_, [])?, nil: break
        default: throw noEntry
        }
        return Service(path: path, uuid: uuid, isPrimary: isPrimary, includes: includes)
    }

    private static func characteristic(
        _ path: ObjectPath, _ properties: [String: DBusValue]
    ) throws(DBusError) -> Characteristic {
        guard let uuid = uuid(properties), let service = properties["Service"]?.pathValue,
            let flags = AttributeFlagNames(properties["Flags"])
        else { throw noEntry }
        return Characteristic(
            path: path, service: service, uuid: uuid, flags: flags,
            acquiresNotify: properties["NotifyAcquired"]?.boolValue != nil)
    }

    private static func descriptors(
        of characteristic: ObjectPath, _ objects: Objects
    ) throws(DBusError) -> [Descriptor] {
        var descriptors: [Descriptor] = []
        for (path, interfaces) in objects {
            guard let properties = interfaces[BlueZInterfaces.descriptor],
                properties["Characteristic"]?.pathValue == characteristic
            else { continue }
            guard let uuid = uuid(properties),
                let flags = AttributeFlagNames(properties["Flags"], ofDescriptor: true)
            else { throw noEntry }
            descriptors.append(
                Descriptor(path: path, characteristic: characteristic, uuid: uuid, flags: flags))
        }
        return descriptors
    }

    /// The UUID; nil for Generic Access and Generic Attribute, which belong to the daemon.
    private static func uuid(_ properties: [String: DBusValue]) -> BluetoothUUID? {
        let uuid = properties["UUID"]?.stringValue.flatMap { BluetoothUUID($0) }
        return uuid?.bits16 == 0x1800 || uuid?.bits16 == 0x1801 ? nil : uuid
    }

    /// Sorts services so that each follows those that it includes: a service can include only services added before it.
    private static func includedFirst(_ services: [Service]) -> [Service] {
        var (left, sorted) = (services, [Service]())
        while !left.isEmpty {
            let next =
                left.firstIndex { service in
                    !service.includes.contains { path in left.contains { $0.path == path } }
                } ?? 0
            sorted.append(left.remove(at: next))
        }
        return sorted
    }
}
#endif
