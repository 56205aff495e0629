#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import FoundationEssentials

/// The objects that `bluetoothd` exports: one model for all roles of a backend.
///
/// ``BlueZDaemon`` applies the daemon's messages to it, which are decoded property by property. The role machines only
/// read it, and receive the changes.
// Invariant: used on the daemon's queue only, or by one thread alone, as in tests.
final class ObjectModel: @unchecked Sendable {
    /// A change that a message made.
    enum Change: Equatable, Sendable {
        case adapterAdded(ObjectPath)
        case adapterChanged(ObjectPath, Adapter1.Changes)
        case adapterRemoved(ObjectPath)
        case deviceAdded(ObjectPath)
        case deviceChanged(ObjectPath, Device1.Changes)
        /// The device was removed; these were its last properties.
        indirect case deviceRemoved(ObjectPath, Device1, PeerID?)
        /// `Device1.Disconnected`, from BlueZ 5.83 on, with the name of the reason.
        case disconnected(ObjectPath, reason: String)
        case serviceAdded(ObjectPath, of: ObjectPath)
        case serviceRemoved(ObjectPath, of: ObjectPath)
        /// A characteristic or a descriptor was removed.
        case attributeRemoved(ObjectPath, of: ObjectPath)
        case mtuChanged(of: ObjectPath, UInt16)
        /// A notification, an indication, or the echo of a read, of a characteristic of a device.
        case valueChanged(ObjectPath, of: ObjectPath, Data)
        /// A property had another type than BlueZ documents, and was ignored.
        case malformed(ObjectPath, property: String)

        /// Whether only a value of a characteristic changed.
        var isValue: Bool {
            if case .valueChanged = self { true } else { false }
        }
    }

    private(set) var adapters: [ObjectPath: Adapter1] = [:]
    private(set) var advertisers: [ObjectPath: LEAdvertisingManager1] = [:]
    private(set) var devices: [ObjectPath: Device1] = [:]
    private(set) var services: [ObjectPath: GattService1] = [:]
    private(set) var characteristics: [ObjectPath: GattCharacteristic1] = [:]
    private(set) var descriptors: [ObjectPath: GattDescriptor1] = [:]
    /// Whether the daemon has given a reason for a disconnect, as it does from 5.83 on.
    var givesDisconnectReasons = false
    /// Whether the bus passes file descriptors, which sockets between the daemon and this process need.
    var passesDescriptors = true
    /// The directories by adapter address, including those of absent adapters.
    private var directories: [String: PeerDirectory] = [:]
    /// Attributes by their parents: services by device, characteristics by service, descriptors by characteristic.
    private var children: [ObjectPath: Set<ObjectPath>] = [:]

    /// Returns the attributes directly below an object, in handle order: a path ends with the handle in hexadecimal.
    func attributes(of path: ObjectPath) -> [ObjectPath] {
        (children[path] ?? []).sorted()
    }

    /// Whether an object has attributes directly below it.
    func hasAttributes(below path: ObjectPath) -> Bool { children[path]?.isEmpty == false }

    /// Removes all objects, because the daemon is gone.
    func removeAll() {
        for directory in directories.values { directory.forgetObjects() }
        (adapters, advertisers, devices) = ([:], [:], [:])
        (services, characteristics, descriptors, children) = ([:], [:], [:], [:])
    }

    /// The changes that lead from an empty model to this one, for a new client.
    var contents: [Change] {
        let changes: [(ObjectPath, Change)] =
            adapters.keys.map { ($0, .adapterAdded($0)) } + devices.keys.map { ($0, .deviceAdded($0)) }
            + services.keys.map { ($0, .serviceAdded($0, of: $0.device)) }
        return changes.sorted { $0.0 < $1.0 }.map(\.1)
    }

    // MARK: Changes

    /// Reads the properties of an interface of an object.
    ///
    /// - Parameter isNew: Whether the object is listed, rather than reported as changed. A change of an unknown object
    ///   is ignored, because its `InterfacesAdded` is yet to come.
    func update(
        _ interface: RemoteInterfaceName, at path: ObjectPath, isNew: Bool, from properties: inout PropertyReader
    ) throws(DBusError) -> [Change] {
        switch interface {
        case .adapter:
            let oldAddress = adapters[path]?.address
            guard let (changes, isAdded) = try properties.update(&adapters, path, isNew) else { return [] }
            if isAdded || changes.contains(.address) { addressChanged(of: path, from: oldAddress) }
            return isAdded ? [.adapterAdded(path)] : changes.isEmpty ? [] : [.adapterChanged(path, changes)]
        case .advertisingManager:
            _ = try properties.update(&advertisers, path, isNew)
            return []
        case .device:
            guard let (read, isAdded) = try properties.update(&devices, path, isNew) else { return [] }
            let changes = updateDirectory(path, read, isAdded: isAdded)
            return isAdded ? [.deviceAdded(path)] : changes.isEmpty ? [] : [.deviceChanged(path, changes)]
        case .service:
            guard let (_, isAdded) = try properties.update(&services, path, isNew), isAdded else { return [] }
            attach(path)
            return [.serviceAdded(path, of: path.device)]
        case .characteristic: return try updateCharacteristic(path, isNew, &properties)
        case .descriptor:
            if let (_, isAdded) = try properties.update(&descriptors, path, isNew), isAdded { attach(path) }
            return []
        }
    }

    private func updateCharacteristic(
        _ path: ObjectPath, _ isNew: Bool, _ properties: inout PropertyReader
    ) throws(DBusError) -> [Change] {
        guard let (changes, isAdded) = try properties.update(&characteristics, path, isNew) else { return [] }
        if isAdded { attach(path) }
        guard let device = changes.device else { return [] }
        var result: [Change] = []
        if let mtu = changes.mtu { result.append(.mtuChanged(of: device, mtu)) }
        // The cached value of a listed object is not an event.
        if let value = changes.value, !isNew { result.append(.valueChanged(path, of: device, value)) }
        return result
    }

    /// Removes an interface of an object.
    func remove(_ interface: RemoteInterfaceName, at path: ObjectPath) -> Change? {
        switch interface {
        case .adapter:
            guard let adapter = adapters.removeValue(forKey: path) else { return nil }
            directory(of: adapter.address).forgetObjects()
            return .adapterRemoved(path)
        case .advertisingManager:
            advertisers[path] = nil
            return nil
        case .device:
            guard let device = devices.removeValue(forKey: path) else { return nil }
            let peer = peer(at: path)
            directory(at: path)?.forgetObject(at: path)
            return .deviceRemoved(path, device, peer)
        case .service: return detach(path, services.removeValue(forKey: path), .serviceRemoved(path, of: path.device))
        case .characteristic:
            return detach(path, characteristics.removeValue(forKey: path), .attributeRemoved(path, of: path.device))
        case .descriptor:
            return detach(path, descriptors.removeValue(forKey: path), .attributeRemoved(path, of: path.device))
        }
    }

    /// Removes the objects that a list of all objects does not contain, children before their parents.
    func removeAll(except listed: [ObjectPath: Set<RemoteInterfaceName>]) -> [Change] {
        func remove(_ known: some Collection<ObjectPath>, _ interface: RemoteInterfaceName) -> [Change] {
            known.filter { listed[$0]?.contains(interface) != true }.sorted(by: >)
                .compactMap { self.remove(interface, at: $0) }
        }
        return remove(descriptors.keys, .descriptor) + remove(characteristics.keys, .characteristic)
            + remove(services.keys, .service) + remove(devices.keys, .device)
            + remove(advertisers.keys, .advertisingManager) + remove(adapters.keys, .adapter)
    }

    // MARK: Identifiers

    /// Returns the directory of the adapter with an address; the adapter may be absent.
    func directory(of adapter: String) -> PeerDirectory {
        if let known = directories[adapter] { return known }
        let new = PeerDirectory(adapterAddress: adapter)
        directories[adapter] = new
        return new
    }

    /// Returns the identifier of the device at a path.
    func peer(at path: ObjectPath) -> PeerID? { directory(at: path)?.peer(at: path) }

    /// Returns the object of a device, if it exists now.
    func path(of peer: PeerID) -> ObjectPath? { directories.values.lazy.compactMap { $0.path(of: peer) }.first }

    private func directory(at device: ObjectPath) -> PeerDirectory? {
        device.parent.flatMap { adapters[$0] }.map { directory(of: $0.address) }
    }

    /// Records the changes of a device in its directory.
    ///
    /// - Returns: The changes, with `name` only if the name of the peer has changed.
    private func updateDirectory(
        _ path: ObjectPath, _ changes: Device1.Changes, isAdded: Bool
    ) -> Device1.Changes {
        guard isAdded || !changes.isDisjoint(with: [.address, .name]), let device = devices[path],
            let directory = directory(at: path)
        else { return changes }
        func name() -> String? { directory.peer(at: path).flatMap { directory[$0]?.name } }
        let oldName = name()
        directory.log(path, device, isNamed: isAdded || changes.contains(.name))
        return name() == oldName ? changes.subtracting(.name) : changes
    }

    /// Records the devices of an adapter that is new or has a new address; they may have been reported before it.
    private func addressChanged(of adapter: ObjectPath, from old: String?) {
        guard let address = adapters[adapter]?.address, address != old else { return }
        if let old { directory(of: old).forgetObjects() }
        for (path, device) in devices where path.parent == adapter {
            directory(of: address).log(path, device, isNamed: true)
        }
    }

    // MARK: Hierarchy

    private func attach(_ path: ObjectPath) {
        if let parent = path.parent { children[parent, default: []].insert(path) }
    }

    /// - Returns: The change, if the attribute was known.
    private func detach(_ path: ObjectPath, _ attribute: (some RemoteInterface)?, _ change: Change) -> Change? {
        guard attribute != nil else { return nil }
        guard let parent = path.parent else { return change }
        children[parent]?.remove(path)
        if children[parent]?.isEmpty == true { children[parent] = nil }
        return change
    }
}

extension ObjectPath {
    /// The device of a service, characteristic or descriptor: `/org/bluez/hci0/dev_…`.
    var device: ObjectPath { prefix(4) }
}
#endif
