#if os(Linux)
import BluetoothBackend
import BluetoothDBus

// The objects of a device's attributes.
extension RemoteDatabase {
    /// Exports a service that the discovery found, with its characteristics and descriptors.
    mutating func export(
        _ service: ServiceRecord, _ found: AttributeDirectory, of device: ObjectPath, mtu: Int,
        _ context: inout DaemonContext
    ) {
        let handle = Self.handle(service.handle, service.id)
        let path = device.appending("service" + Self.hexadecimal(handle))
        var properties: ObjectTree.Properties = [
            "UUID": .string(service.uuid.bluez), "Device": .objectPath(device),
            "Primary": .boolean(service.isPrimary), "Includes": .objectPaths([]),
        ]
        if context.dialect >= .bluez5_82 { properties["Handle"] = .uint16(handle) }
        context.tree.add([BlueZInterfaces.service: properties], at: path)
        let characteristics = found.children(of: service.id).compactMap(\.characteristic)
        attributes[path] = service.id
        services[service.id] = Service(record: service, path: path, characteristics: characteristics.map(\.id))
        for characteristic in characteristics {
            let descriptors = found.children(of: characteristic.id).compactMap(\.descriptor)
            export(characteristic, below: path, descriptors, mtu: mtu, &context)
        }
    }

    private mutating func export(
        _ characteristic: CharacteristicRecord, below service: ObjectPath, _ descriptors: [DescriptorRecord], mtu: Int,
        _ context: inout DaemonContext
    ) {
        // The object is numbered by the declaration, which precedes the value.
        let declaration = Self.handle(characteristic.handle, characteristic.id) &- 1
        let path = service.appending("char" + Self.hexadecimal(declaration))
        let found = Characteristic(record: characteristic, path: path, descriptors: descriptors.map(\.id))
        var properties: ObjectTree.Properties = [
            "UUID": .string(characteristic.uuid.bluez), "Service": .objectPath(service), "Value": .bytes([]),
            "Flags": .strings(characteristic.properties.bluezFlags), "MTU": .uint16(UInt16(clamping: mtu)),
        ]
        if found.canNotify { properties["Notifying"] = .boolean(false) }
        if found.properties.contains(.notify) { properties["NotifyAcquired"] = .boolean(false) }
        if found.properties.contains(.writeWithoutResponse) { properties["WriteAcquired"] = .boolean(false) }
        if context.dialect >= .bluez5_82 { properties["Handle"] = .uint16(declaration) }
        context.tree.add([BlueZInterfaces.characteristic: properties], at: path)
        attributes[path] = characteristic.id
        characteristics[characteristic.id] = found
        for descriptor in descriptors { export(descriptor, below: path, &context) }
    }

    private mutating func export(
        _ descriptor: DescriptorRecord, below characteristic: ObjectPath, _ context: inout DaemonContext
    ) {
        let handle = Self.handle(descriptor.handle, descriptor.id)
        let path = characteristic.appending("desc" + Self.hexadecimal(handle))
        var properties: ObjectTree.Properties = [
            "UUID": .string(descriptor.uuid.bluez), "Characteristic": .objectPath(characteristic), "Value": .bytes([]),
        ]
        if context.dialect >= .bluez5_82 { properties["Handle"] = .uint16(handle) }
        context.tree.add([BlueZInterfaces.descriptor: properties], at: path)
        attributes[path] = descriptor.id
        descriptors[descriptor.id] = Descriptor(record: descriptor, path: path)
    }

    private static func handle(_ number: UInt16?, _ id: AttributeID) -> UInt16 {
        number ?? UInt16(truncatingIfNeeded: id.rawValue)
    }

    private static func hexadecimal(_ handle: UInt16) -> String {
        let text = String(handle, radix: 16)
        return String(repeating: "0", count: 4 - text.count) + text
    }

    // MARK: Properties

    func showIncludes(_ included: [AttributeID], of id: AttributeID, _ context: inout DaemonContext) {
        guard let service = services[id] else { return }
        let paths = included.compactMap { services[$0]?.path }
        context.set("Includes", .objectPaths(paths), of: BlueZInterfaces.service, at: service.path)
    }

    func showMTU(_ mtu: Int, _ context: inout DaemonContext) {
        for path in characteristics.values.map(\.path).sorted() {
            context.set("MTU", .uint16(UInt16(clamping: mtu)), of: BlueZInterfaces.characteristic, at: path)
        }
    }

    /// Removes the MTU, which does not exist without a link.
    func hideMTU(_ context: inout DaemonContext) {
        for characteristic in characteristics.values {
            context.tree.hide("MTU", of: BlueZInterfaces.characteristic, at: characteristic.path)
        }
    }

    // MARK: The end

    /// Removes the objects of a service, and refuses the calls that wait for its attributes.
    mutating func withdraw(_ id: AttributeID, on link: inout DaemonLink?, _ context: inout DaemonContext) {
        guard let service = services[id] else { return }
        let error = BlueZError.failed("Operation failed")
        for id in service.characteristics {
            characteristics[id]?.closeSockets(on: &link, &context)
            guard let characteristic = characteristics[id] else { continue }
            for (call, _) in characteristic.starting { context.refuse(call, error) }
            characteristic.reads.refuse(error, &context)
            for id in characteristic.descriptors { descriptors[id]?.reads.refuse(error, &context) }
        }
        for path in remove(id) { context.remove(path) }
    }
}
#endif
