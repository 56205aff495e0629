#if os(Linux)
import BluetoothBackend
import BluetoothDBus

// Calls of clients, and the objects, interfaces and methods that they select.
extension BluetoothDaemon {
    mutating func receive(_ call: ClientCall) {
        do throws(DBusError) {
            let interface = try self.interface(of: call)
            switch interface {
            case StandardInterface.introspectable.name: introspect(call)
            case StandardInterface.objectManager.name: answer(call.id, [managedObjects])
            case StandardInterface.properties.name: try accessProperty(call)
            case BlueZInterfaces.agentManager: try handleAgentCall(call)
            case BlueZInterfaces.profileManager: try handleProfileCall(call)
            default: try handleAdapterCall(call, interface)
            }
        } catch {
            guard isDefaultIntrospection(call) else { return refuse(call.id, error) }
            answer(call.id, [.string(IntrospectionDocument.text([], children: tree.children(of: call.path)))])
        }
    }

    private var managedObjects: DBusValue { tree.managedObjects }

    /// The interface of the method that a call selects; a call without an interface selects no method.
    private func interface(of call: ClientCall) throws(DBusError) -> String {
        let found = definitions(at: call.path).first { definition in
            definition.name == call.interface && definition.method(call.member)?.signature == call.signature
        }
        guard let found else { throw BlueZError.unknown(call, isObjectThere: tree.leads(to: call.path)) }
        return found.name
    }

    /// The interfaces at a path, including the standard ones; empty for a path that only leads to an object.
    private func definitions(at path: ObjectPath) -> [InterfaceDefinition] {
        guard path != .root else { return [StandardInterface.introspectable, StandardInterface.objectManager] }
        return tree.interfaces(at: path)?.compactMap { interfaces[$0] } ?? []
    }

    /// Whether a call that no object handles is a request for introspection: libdbus then describes the tree of paths,
    /// whatever the path and the arguments.
    ///
    /// Source: D-Bus, `dbus/dbus-object-tree.c`, `handle_default_introspect_and_unlock`.
    private func isDefaultIntrospection(_ call: ClientCall) -> Bool {
        call.member == "Introspect" && ["", StandardInterface.introspectable.name].contains(call.interface)
    }

    private mutating func introspect(_ call: ClientCall) {
        let text = IntrospectionDocument.text(definitions(at: call.path), children: tree.children(of: call.path))
        answer(call.id, [.string(text)])
    }

    // MARK: Properties

    private mutating func accessProperty(_ call: ClientCall) throws(DBusError) {
        let name = call.arguments.first?.stringValue ?? ""
        guard let definition = interfaces[name], let values = tree.properties(of: name, at: call.path) else {
            throw BlueZError.noInterface(name)
        }
        switch call.member {
        case "GetAll": answer(call.id, [.properties(values)])
        case "Get":
            let property = call.arguments.dropFirst().first?.stringValue ?? ""
            guard let value = values[property] else { throw BlueZError.noProperty(property) }
            answer(call.id, [.variant(value)])
        default:
            let property = call.arguments.dropFirst().first?.stringValue ?? ""
            guard let known = definition.property(property) else { throw BlueZError.unknownProperty(property) }
            guard known.isWritable else { throw BlueZError.readOnly(property) }
            guard values[property] != nil else { throw BlueZError.unknownProperty(property) }
            guard case .variant(let value)? = call.arguments.last, value.type.text == known.type else {
                throw BlueZError.wrongType(property)
            }
            try setProperty(property, value, of: name, call)
        }
    }

    private mutating func setProperty(
        _ property: String, _ value: DBusValue, of interface: String, _ call: ClientCall
    ) throws(DBusError) {
        guard let (adapter, device) = subject(of: call.path) else {
            throw BlueZError.unknown(call, isObjectThere: false)
        }
        if let device {
            try setDeviceProperty(property, value, of: device, on: adapter, call)
        } else {
            try setAdapterProperty(property, value, of: adapter, call)
        }
    }

    // MARK: Objects

    /// The adapter that a path belongs to, and the device, which is nil for the adapter's own path.
    func subject(of path: ObjectPath) -> (adapter: Int, device: PeerID?)? {
        guard let index = adapters.firstIndex(where: { path == $0.path || path.isBelow($0.path) }) else { return nil }
        guard path != adapters[index].path else { return (index, nil) }
        guard let peer = adapters[index].peers[path.prefix(4)] else { return nil }
        return (index, peer)
    }

    private mutating func handleAdapterCall(_ call: ClientCall, _ interface: String) throws(DBusError) {
        guard let (adapter, device) = subject(of: call.path) else {
            throw BlueZError.unknown(call, isObjectThere: false)
        }
        switch (interface, device) {
        case (BlueZInterfaces.adapter, nil): try handleCall(call, ofAdapter: adapter)
        case (BlueZInterfaces.gattManager, nil): try handleApplicationCall(call, on: adapter)
        case (BlueZInterfaces.advertisingManager, nil): try handleAdvertisingCall(call, on: adapter)
        case (BlueZInterfaces.monitorManager, nil): try handleMonitorCall(call, on: adapter)
        case (BlueZInterfaces.batteryProviderManager, nil): try handleBatteryProviderCall(call, on: adapter)
        case (BlueZInterfaces.bearer, let device?): try handleBearerCall(call, of: device, on: adapter)
        case (BlueZInterfaces.device, let device?): try handleCall(call, of: device, on: adapter)
        case (BlueZInterfaces.characteristic, let device?):
            try handleCharacteristicCall(call, of: device, on: adapter)
        case (BlueZInterfaces.descriptor, let device?): try handleDescriptorCall(call, of: device, on: adapter)
        default: throw BlueZError.unknown(call, isObjectThere: true)
        }
    }
}
#endif
