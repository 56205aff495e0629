#if os(Linux)
import BluetoothBackend
import BluetoothDBus

// Calls of clients, and the objects, interfaces and methods that they select.
extension BluetoothDaemon {
    mutating func receive(_ call: ClientCall) {
        do throws(DBusError) {
            let interface = try self.interface(of: call)
            switch interface {
            case StandardInterface.introspectable.name: describe(call, definitions(at: call.path))
            case StandardInterface.objectManager.name: context.answer(call.id, [context.tree.managedObjects])
            case StandardInterface.properties.name: try accessProperty(call)
            case BlueZInterfaces.agentManager: try handleAgentCall(call)
            case BlueZInterfaces.profileManager: try handleProfileCall(call)
            default: try handleAdapterCall(call, interface)
            }
        } catch {
            guard isDefaultIntrospection(call) else { return context.refuse(call.id, error) }
            describe(call, [])
        }
    }

    /// The interface of the method that a call selects; a call without an interface selects no method.
    private func interface(of call: ClientCall) throws(DBusError) -> String {
        let found = definitions(at: call.path).first { definition in
            definition.name == call.interface && definition.method(call.member)?.signature == call.signature
        }
        guard let found else { throw BlueZError.unknown(call, isObjectThere: context.tree.leads(to: call.path)) }
        return found.name
    }

    /// The interfaces at a path, including the standard ones; empty for a path that only leads to an object.
    private func definitions(at path: ObjectPath) -> [InterfaceDefinition] {
        guard path != .root else { return [StandardInterface.introspectable, StandardInterface.objectManager] }
        return context.tree.interfaces(at: path)?.compactMap { context.interfaces[$0] } ?? []
    }

    /// Whether a call that no object handles is a request for introspection: libdbus then describes the tree of paths,
    /// whatever the path and the arguments.
    ///
    /// Source: D-Bus, `dbus/dbus-object-tree.c`, `handle_default_introspect_and_unlock`.
    private func isDefaultIntrospection(_ call: ClientCall) -> Bool {
        call.member == "Introspect" && ["", StandardInterface.introspectable.name].contains(call.interface)
    }

    private mutating func describe(_ call: ClientCall, _ interfaces: [InterfaceDefinition]) {
        let text = IntrospectionDocument.text(interfaces, children: context.tree.children(of: call.path))
        context.answer(call.id, [.string(text)])
    }

    // MARK: Properties

    private mutating func accessProperty(_ call: ClientCall) throws(DBusError) {
        let name = call.arguments.first?.stringValue ?? ""
        guard let definition = context.interfaces[name],
            let values = context.tree.properties(of: name, at: call.path)
        else { throw BlueZError.noInterface(name) }
        switch call.member {
        case "GetAll": context.answer(call.id, [.properties(values)])
        case "Get":
            let property = call.arguments.dropFirst().first?.stringValue ?? ""
            guard let value = values[property] else { throw BlueZError.noProperty(property) }
            context.answer(call.id, [.variant(value)])
        default:
            let property = call.arguments.dropFirst().first?.stringValue ?? ""
            guard let known = definition.property(property) else { throw BlueZError.unknownProperty(property) }
            guard known.isWritable else { throw BlueZError.readOnly(property) }
            guard values[property] != nil else { throw BlueZError.unknownProperty(property) }
            guard case .variant(let value)? = call.arguments.last, value.type.text == known.type else {
                throw BlueZError.wrongType(property)
            }
            try setProperty(property, value, for: call)
        }
    }

    private mutating func setProperty(_ property: String, _ value: DBusValue, for call: ClientCall) throws(DBusError) {
        guard let (index, device) = subject(of: call.path) else { throw BlueZError.unknown(call, isObjectThere: false) }
        if let device {
            adapters[index].devices[device]?.setProperty(property, value, for: call, &context)
        } else {
            try adapters[index].setProperty(property, value, for: call, &context)
        }
    }

    // MARK: Objects

    /// The adapter that a path belongs to, and the device, which is nil for the adapter's own path.
    private func subject(of path: ObjectPath) -> (adapter: Int, device: PeerID?)? {
        guard let index = adapters.firstIndex(where: { path == $0.path || path.isBelow($0.path) }) else { return nil }
        guard path != adapters[index].path else { return (index, nil) }
        return adapters[index].peers[path.prefix(4)].map { (index, $0) }
    }

    private mutating func handleAdapterCall(_ call: ClientCall, _ interface: String) throws(DBusError) {
        guard let (index, device) = subject(of: call.path) else { throw BlueZError.unknown(call, isObjectThere: false) }
        if let device { return try adapters[index].handle(call, of: device, interface, &context) }
        switch interface {
        case BlueZInterfaces.adapter: try adapters[index].handleCall(call, &context)
        case BlueZInterfaces.gattManager: try adapters[index].applications.handle(call, &context)
        case BlueZInterfaces.advertisingManager: try adapters[index].advertisements.handle(call, &context)
        case BlueZInterfaces.monitorManager: try adapters[index].handleMonitorCall(call, &context)
        case BlueZInterfaces.batteryProviderManager: try context.handleBatteryProviderCall(call, on: index)
        default: throw BlueZError.unknown(call, isObjectThere: true)
        }
    }
}
#endif
