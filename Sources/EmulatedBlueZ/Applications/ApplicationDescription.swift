#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothSupport

/// An application as its client exports it: services with their characteristics and descriptors.
///
/// Pure. Clients export more than that, and in odd ways: objects of other kinds, UUIDs of any length, properties that no
/// one asked for. What is not part of a service is ignored.
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

    private(set) var services: [Service] = []

    /// - Parameter managed: The reply to `GetManagedObjects`.
    /// - Throws: The error that `bluetoothd` gives for an application that it does not accept.
    init(_ managed: DBusValue?) throws(DBusError) {
        let objects = Self.objects(in: managed)
        guard !objects.isEmpty else { throw BlueZError.failed("No object received") }
        guard objects.count <= DaemonLimits.attributes else {
            throw BlueZError.failed("Failed to create entry in database")
        }
        for (path, interfaces) in objects {
            guard let properties = interfaces[BlueZInterfaces.service] else { continue }
            services.append(try Self.service(path, properties))
        }
        guard !services.isEmpty else { throw BlueZError.failed("No valid service object found") }
        var characteristics: [Characteristic] = []
        for (path, interfaces) in objects {
            guard let properties = interfaces[BlueZInterfaces.characteristic] else { continue }
            characteristics.append(try Self.characteristic(path, properties))
        }
        for (path, interfaces) in objects {
            guard let properties = interfaces[BlueZInterfaces.descriptor] else { continue }
            let descriptor = try Self.descriptor(path, properties)
            guard let index = characteristics.firstIndex(where: { $0.path == descriptor.characteristic }) else {
                continue
            }
            characteristics[index].descriptors.append(descriptor)
        }
        for characteristic in characteristics {
            guard let index = services.firstIndex(where: { $0.path == characteristic.service }) else { continue }
            services[index].characteristics.append(characteristic)
        }
        services = Self.includedFirst(services)
    }

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

    private static func service(
        _ path: ObjectPath, _ properties: [String: DBusValue]
    ) throws(DBusError) -> Service {
        // Generic Access and Generic Attribute belong to the daemon.
        guard let uuid = uuid(properties), uuid.bits16 != 0x1800, uuid.bits16 != 0x1801 else {
            throw BlueZError.failed("No valid service object found")
        }
        var includes: [ObjectPath] = []
        if case .array(.objectPath, let paths)? = properties["Includes"] {
            includes = paths.compactMap(\.pathValue).filter { $0 != path }
        }
        return Service(
            path: path, uuid: uuid, isPrimary: properties["Primary"]?.boolValue ?? true, includes: includes)
    }

    private static func characteristic(
        _ path: ObjectPath, _ properties: [String: DBusValue]
    ) throws(DBusError) -> Characteristic {
        guard let uuid = uuid(properties), let service = properties["Service"]?.pathValue,
            let flags = properties["Flags"]?.stringsValue.map(AttributeFlagNames.init)
        else { throw BlueZError.failed("Failed to create entry in database") }
        return Characteristic(
            path: path, service: service, uuid: uuid, flags: flags,
            acquiresNotify: properties["NotifyAcquired"]?.boolValue != nil)
    }

    private static func descriptor(
        _ path: ObjectPath, _ properties: [String: DBusValue]
    ) throws(DBusError) -> Descriptor {
        guard let uuid = uuid(properties), let characteristic = properties["Characteristic"]?.pathValue else {
            throw BlueZError.failed("Failed to create entry in database")
        }
        return Descriptor(
            path: path, characteristic: characteristic, uuid: uuid,
            flags: AttributeFlagNames(properties["Flags"]?.stringsValue ?? []))
    }

    private static func uuid(_ properties: [String: DBusValue]) -> BluetoothUUID? {
        properties["UUID"]?.stringValue.flatMap { BluetoothUUID($0) }
    }

    /// A service can include only what was added before it.
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

/// The flags of a characteristic or a descriptor that a client serves.
///
/// Source: BlueZ, `doc/org.bluez.GattCharacteristic.rst`, `Flags`.
struct AttributeFlagNames: Sendable {
    private(set) var properties: CharacteristicProperties = []
    private(set) var permissions: AttributePermissions = []

    init(_ names: [String]) {
        for name in names { add(name) }
    }

    private mutating func add(_ name: String) {
        switch name {
        case "broadcast": properties.insert(.broadcast)
        case "read": (properties, permissions) = (properties.union(.read), permissions.union(.readable))
        case "encrypt-read", "encrypt-authenticated-read", "secure-read":
            (properties, permissions) = (properties.union(.read), permissions.union(.readEncryptionRequired))
        case "write": (properties, permissions) = (properties.union(.write), permissions.union(.writeable))
        case "encrypt-write", "encrypt-authenticated-write", "secure-write":
            (properties, permissions) = (properties.union(.write), permissions.union(.writeEncryptionRequired))
        case "write-without-response":
            (properties, permissions) = (properties.union(.writeWithoutResponse), permissions.union(.writeable))
        case "notify": properties.insert(.notify)
        case "encrypt-notify", "encrypt-authenticated-notify", "secure-notify":
            properties.formUnion([.notify, .notifyEncryptionRequired])
        case "indicate": properties.insert(.indicate)
        case "encrypt-indicate", "encrypt-authenticated-indicate", "secure-indicate":
            properties.formUnion([.indicate, .indicateEncryptionRequired])
        case "authenticated-signed-writes": properties.insert(.authenticatedSignedWrites)
        case "extended-properties", "reliable-write", "writable-auxiliaries": properties.insert(.extendedProperties)
        default: break  // "authorize" and unknown ones ask for nothing that the controller does
        }
        // Encryption for writes replaces the plain permission, which a command of the same attribute would give.
        if permissions.contains(.writeEncryptionRequired) { permissions.remove(.writeable) }
        if permissions.contains(.readEncryptionRequired) { permissions.remove(.readable) }
    }
}
#endif
