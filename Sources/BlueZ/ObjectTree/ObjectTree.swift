#if os(Linux)
import BluetoothDBus

/// What `bluetoothd` exports, mirrored.
///
/// Pure: signals in, changes out.
struct ObjectTree: Sendable {
    /// Properties by interface, as `GetManagedObjects` and `InterfacesAdded` carry them.
    typealias Interfaces = [String: [String: DBusValue]]

    /// What a signal or a snapshot changed.
    enum Change: Equatable, Sendable {
        case adapterAdded(ObjectPath)
        case adapterChanged(ObjectPath, Adapter1.Changes)
        case adapterRemoved(ObjectPath)
        case deviceAdded(ObjectPath)
        case deviceChanged(ObjectPath, Device1.Changes)
        /// With what was known of it.
        case deviceRemoved(ObjectPath, Device1)
        case serviceAdded(ObjectPath)
        case serviceRemoved(ObjectPath)
        case characteristicAdded(ObjectPath)
        case characteristicRemoved(ObjectPath)
        case mtuChanged(ObjectPath, UInt16)
        /// A notification, an indication, or the echo of somebody's read.
        case valueChanged(ObjectPath, [UInt8])
        case descriptorAdded(ObjectPath)
        case descriptorRemoved(ObjectPath)
        /// A property has another type than BlueZ documents; it was ignored.
        case malformed(ObjectPath, property: String)
    }

    private(set) var adapters: [ObjectPath: Adapter1] = [:]
    private(set) var advertisers: [ObjectPath: LEAdvertisingManager1] = [:]
    private(set) var devices: [ObjectPath: Device1] = [:]
    private(set) var services: [ObjectPath: GattService1] = [:]
    private(set) var characteristics: [ObjectPath: GattCharacteristic1] = [:]
    private(set) var descriptors: [ObjectPath: GattDescriptor1] = [:]
    /// Attributes by what holds them: services by device, characteristics by service, descriptors by characteristic.
    private var children: [ObjectPath: Set<ObjectPath>] = [:]

    /// The attributes directly below an object, in handle order: a path's last element ends with the handle in hex.
    func attributes(of path: ObjectPath) -> [ObjectPath] {
        (children[path] ?? []).sorted()
    }

    // MARK: Signals

    /// `InterfacesAdded`.
    ///
    /// Interfaces that are known already are updated.
    mutating func add(_ path: ObjectPath, _ interfaces: Interfaces) -> [Change] {
        // In the order in which objects depend on each other; an object rarely has two of these.
        var changes: [Change] = []
        for interface in interfaces.keys.sorted() {
            changes += change(path, interface, interfaces[interface] ?? [:], removing: [], isNew: true)
        }
        return changes
    }

    /// `PropertiesChanged`.
    ///
    /// An object that is not known is ignored: its `InterfacesAdded` is yet to come. An advertisement is a change also
    /// where it is the one that was known: the device was heard again.
    mutating func change(
        _ path: ObjectPath, _ interface: String, _ values: [String: DBusValue], removing removed: [String]
    ) -> [Change] {
        change(path, interface, values, removing: removed, isNew: false)
    }

    /// `InterfacesRemoved`.
    mutating func remove(_ path: ObjectPath, _ interfaces: [String]) -> [Change] {
        interfaces.flatMap { interface -> [Change] in
            switch interface {
            case Adapter1.interface:
                return adapters.removeValue(forKey: path) == nil ? [] : [.adapterRemoved(path)]
            case LEAdvertisingManager1.interface:
                advertisers[path] = nil
                return []
            case Device1.interface:
                return devices.removeValue(forKey: path).map { [.deviceRemoved(path, $0)] } ?? []
            case GattService1.interface:
                return services.removeValue(forKey: path) == nil ? [] : detach(path, .serviceRemoved(path))
            case GattCharacteristic1.interface:
                return characteristics.removeValue(forKey: path) == nil
                    ? [] : detach(path, .characteristicRemoved(path))
            case GattDescriptor1.interface:
                return descriptors.removeValue(forKey: path) == nil ? [] : detach(path, .descriptorRemoved(path))
            default:
                return []
            }
        }
    }

    // MARK: Snapshots

    /// `GetManagedObjects`: what is not in it is gone, what is known is updated, the rest is new.
    ///
    /// It may be read at any time, and says how things are, not what happened: only what differs is a change, and what an
    /// object that is known advertises or had as its last value is none.
    mutating func replace(with objects: [ObjectPath: Interfaces]) -> [Change] {
        var changes: [Change] = []
        func gone<Value>(_ known: [ObjectPath: Value], _ interface: String) -> [ObjectPath] {
            known.keys.filter { objects[$0]?[interface] == nil }.sorted(by: >)
        }
        let stale =
            gone(descriptors, GattDescriptor1.interface).map { ($0, GattDescriptor1.interface) }
            + gone(characteristics, GattCharacteristic1.interface).map { ($0, GattCharacteristic1.interface) }
            + gone(services, GattService1.interface).map { ($0, GattService1.interface) }
            + gone(devices, Device1.interface).map { ($0, Device1.interface) }
            + gone(advertisers, LEAdvertisingManager1.interface).map { ($0, LEAdvertisingManager1.interface) }
            + gone(adapters, Adapter1.interface).map { ($0, Adapter1.interface) }
        for (path, interface) in stale { changes += remove(path, [interface]) }
        for path in objects.keys.sorted() { changes += add(path, objects[path] ?? [:]) }
        return changes.compactMap(Self.withoutAdvertisement)
    }

    private static func withoutAdvertisement(_ change: Change) -> Change? {
        guard case .deviceChanged(let path, let changes) = change else { return change }
        let rest = changes.subtracting(.advertisement)
        return rest.isEmpty ? nil : .deviceChanged(path, rest)
    }

    // MARK: By interface

    private mutating func change(
        _ path: ObjectPath, _ interface: String, _ values: [String: DBusValue], removing removed: [String], isNew: Bool
    ) -> [Change] {
        switch interface {
        case Adapter1.interface:
            return Self.update(&adapters, path, values, removed, isNew, added: .adapterAdded(path)) {
                $0.isEmpty ? [] : [.adapterChanged(path, $0)]
            }
        case LEAdvertisingManager1.interface:
            let (_, malformed) = advertisers[path, default: LEAdvertisingManager1()].apply(values, removing: removed)
            return malformed.map { .malformed(path, property: "\(interface).\($0)") }
        case Device1.interface:
            return Self.update(&devices, path, values, removed, isNew, added: .deviceAdded(path)) {
                $0.isEmpty ? [] : [.deviceChanged(path, $0)]
            }
        case GattService1.interface:
            if isNew { attach(path) }
            return Self.update(&services, path, values, removed, isNew, added: .serviceAdded(path)) { _ in [] }
        case GattCharacteristic1.interface:
            return changeCharacteristic(path, values, removed, isNew: isNew)
        case GattDescriptor1.interface:
            if isNew { attach(path) }
            return Self.update(&descriptors, path, values, removed, isNew, added: .descriptorAdded(path)) { _ in [] }
        default:
            return []
        }
    }

    private mutating func changeCharacteristic(
        _ path: ObjectPath, _ values: [String: DBusValue], _ removed: [String], isNew: Bool
    ) -> [Change] {
        let known = characteristics[path]
        guard isNew || known != nil else { return [] }
        if isNew { attach(path) }
        var changes = Self.update(
            &characteristics, path, values, removed, isNew, added: .characteristicAdded(path)
        ) { _ in [] }
        if let mtu = characteristics[path]?.mtu, mtu != known?.mtu { changes.append(.mtuChanged(path, mtu)) }
        // The cached value of an object that is listed is no event.
        if !isNew, let value = values["Value"]?.unwrapped {
            changes.append(
                value.bytesValue.map { .valueChanged(path, $0) } ?? .malformed(path, property: "Value"))
        }
        return changes
    }

    private static func update<Object: RemoteInterface>(
        _ objects: inout [ObjectPath: Object], _ path: ObjectPath, _ values: [String: DBusValue], _ removed: [String],
        _ isNew: Bool, added: Change, changed: (Object.Changes) -> [Change]
    ) -> [Change] {
        let index = objects.index(forKey: path)
        guard index != nil || isNew else { return [] }
        // Looked up once, where it is known: that is a matter of each signal.
        let (changes, malformed) =
            if let index {
                objects.values[index].apply(values, removing: removed)
            } else {
                objects[path, default: Object()].apply(values, removing: removed)
            }
        let complaints = malformed.map { Change.malformed(path, property: "\(Object.interface).\($0)") }
        return (index != nil ? changed(changes) : [added]) + complaints
    }

    // MARK: Hierarchy

    private mutating func attach(_ path: ObjectPath) {
        if let parent = path.parent { children[parent, default: []].insert(path) }
    }

    private mutating func detach(_ path: ObjectPath, _ change: Change) -> [Change] {
        if let parent = path.parent {
            children[parent]?.remove(path)
            if children[parent]?.isEmpty == true { children[parent] = nil }
        }
        return [change]
    }
}
#endif
