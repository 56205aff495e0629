#if os(Linux)
import BluetoothSupport
import Logging

/// Exports objects to one peer on the bus: methods, properties, introspection, and lists of objects.
///
/// Only calls of the peer that the owner names are accepted; all others are refused with `AccessDenied`, and each such
/// caller is logged once. Signals are sent only to that peer, so that no other program sees their values. Objects
/// outlive connections. Any thread may call any method; handlers run on the connection's queue.
package final class DBusObjectServer: Sendable {
    private struct State: Sendable {
        var exported: ExportedObjects
        var connection: DBusConnection?
        /// The unique name of the only accepted caller.
        var peer: String?
        /// The callers that were refused and logged.
        var strangers: Set<String> = []
    }

    /// The number of refused callers that are stored, so that none is logged twice.
    private static let rememberedStrangers = 256
    private static let propertiesInterface = "org.freedesktop.DBus.Properties"
    private static let managerInterface = "org.freedesktop.DBus.ObjectManager"
    private static let introspectableInterface = "org.freedesktop.DBus.Introspectable"

    private let state: Lock<State>

    /// A server without objects, connection or peer.
    package init() {
        state = Lock(State(exported: ExportedObjects()))
        let (standard, manager) = ([introspectable, properties], objectManager)
        state.withLock { state in
            state.exported.standard = standard
            state.exported.manager = manager
        }
    }

    // MARK: Peer

    /// Serves the calls on a connection from now on, and no others.
    ///
    /// The server must not be attached to two connections at a time, nor two servers to one.
    package func attach(to connection: DBusConnection?) {
        let old = state.withLock { state -> DBusConnection? in
            defer { state.connection = connection }
            state.strangers = []
            return state.connection
        }
        if old !== connection { old?.onCall(nil) }
        connection?.onCall { [weak self] call in self?.received(call) }
    }

    /// Accepts calls from this unique name from now on, and from no other; nil accepts none.
    package func serve(only peer: String?) {
        state.withLock { $0.peer = peer }
    }

    // MARK: Objects

    /// Exports an object, and replaces one at the same path.
    ///
    /// Export the objects below an object manager before the manager: a manager that exists already reports each new
    /// object.
    ///
    /// - Parameters:
    ///   - interfaces: Its interfaces; the standard ones are added.
    ///   - path: The path of the object.
    ///   - isManager: Whether it lists the objects below it (`org.freedesktop.DBus.ObjectManager`).
    package func export(_ interfaces: [DBusInterface], at path: ObjectPath, isManager: Bool = false) {
        let addition = state.withLock { state -> (manager: ObjectPath, description: DBusValue)? in
            guard let manager = state.exported.add(interfaces, at: path, isManager: isManager) else { return nil }
            return (manager, state.exported.description(of: path))
        }
        guard let addition else { return }
        emit(addition.manager, Self.managerInterface, "InterfacesAdded", [.objectPath(path), addition.description])
    }

    /// Withdraws an object and all objects below it.
    package func withdraw(_ path: ObjectPath) {
        let gone = state.withLock { $0.exported.remove(path) }
        for object in gone {
            guard let manager = object.manager else { continue }
            emit(
                manager, Self.managerInterface, "InterfacesRemoved",
                [.objectPath(object.path), .strings(object.interfaces)])
        }
    }

    /// Changes properties and notifies the peer.
    ///
    /// A value whose type differs from that of the present one is logged and ignored.
    package func set(_ values: [String: DBusValue], of interface: String, at path: ObjectPath) {
        let changed = state.withLock { $0.exported.set(values, of: interface, at: path) }
        if changed.count < values.count {
            ConnectionCore.logger.line(.error, "\(path) has no such properties: \(values.keys.sorted())")
        }
        guard !changed.isEmpty else { return }
        emit(
            path, Self.propertiesInterface, "PropertiesChanged",
            [.string(interface), .properties(changed), .strings([])])
    }

    /// Sends a signal of an object to the peer; does nothing without a peer or a connection.
    package func emit(_ path: ObjectPath, _ interface: String, _ member: String, _ body: [DBusValue]) {
        let (connection, peer) = state.withLock { ($0.connection, $0.peer) }
        guard let connection, let peer else { return }
        do throws(DBusError) {
            try connection.send(
                .signal(path: path, interface: interface, member: member, to: peer, body))
        } catch {
            // The users of a closed connection are notified anyway.
            guard error.name != DBusError.Name.disconnected else { return }
            ConnectionCore.logger.line(.error, "\(member) of \(path) could not be sent: \(error)")
        }
    }

    // MARK: Calls, on the queue

    private func received(_ call: DBusCall) {
        do throws(DBusError) {
            let peer = state.withLock { $0.peer }
            guard call.sender == peer else { throw refusal(of: call.sender) }
            let method = try state.withLock { state throws(DBusError) in
                try state.exported.method(call.member, of: call.interface, at: call.path, signature: call.signature)
            }
            method.handler(call)
        } catch {
            call.refuse(error)
        }
    }

    private func refusal(of stranger: String) -> DBusError {
        let isNew = state.withLock { state in
            if state.strangers.count >= Self.rememberedStrangers { state.strangers = [] }
            return state.strangers.insert(stranger).inserted
        }
        if isNew {
            ConnectionCore.logger.line(
                .warning, "a call from an unknown sender was refused", metadata: ["sender": "\(stranger)"])
        }
        return DBusError(
            name: DBusError.Name.accessDenied, message: "this object accepts calls from one other connection only")
    }
}

// MARK: - Standard interfaces

extension DBusObjectServer {
    private var introspectable: DBusInterface {
        var interface = DBusInterface(Self.introspectableInterface)
        interface.on("Introspect", returning: "s") { [weak self] call in
            self?.answer(call) { exported in
                let (interfaces, children) = (exported.interfaces(at: call.path), exported.children(of: call.path))
                return [.string(Introspection.xml(of: interfaces, children: children))]
            }
        }
        return interface
    }

    private var objectManager: DBusInterface {
        var interface = DBusInterface(Self.managerInterface)
        interface.on("GetManagedObjects", returning: "a{oa{sa{sv}}}") { [weak self] call in
            self?.answer(call) { exported in [exported.managed(below: call.path)] }
        }
        return interface
    }

    private var properties: DBusInterface {
        var interface = DBusInterface(Self.propertiesInterface)
        interface.on("Get", "ss", returning: "v") { [weak self] call in
            self?.answer(call) { exported throws(DBusError) in
                let (interface, name) = try Self.names(call)
                return [.variant(try exported.property(name, of: interface, at: call.path).value)]
            }
        }
        interface.on("GetAll", "s", returning: "a{sv}") { [weak self] call in
            self?.answer(call) { exported throws(DBusError) in
                let interface = call.arguments.first?.stringValue ?? ""
                return [.properties(try exported.interface(interface, at: call.path).values)]
            }
        }
        interface.on("Set", "ssv") { [weak self] call in self?.setProperty(call) }
        return interface
    }

    private static func names(_ call: DBusCall) throws(DBusError) -> (interface: String, property: String) {
        guard call.arguments.count >= 2, let interface = call.arguments[0].stringValue,
            let name = call.arguments[1].stringValue
        else { throw DBusError(name: DBusError.Name.invalidArguments, message: "two names are expected") }
        return (interface, name)
    }

    private func answer(
        _ call: DBusCall, _ body: @Sendable (borrowing ExportedObjects) throws(DBusError) -> [DBusValue]
    ) {
        do throws(DBusError) {
            call.answer(try state.withLock { state throws(DBusError) in try body(state.exported) })
        } catch {
            call.refuse(error)
        }
    }

    private func setProperty(_ call: DBusCall) {
        do throws(DBusError) {
            let (interface, name) = try Self.names(call)
            let property = try state.withLock { state throws(DBusError) in
                try state.exported.property(name, of: interface, at: call.path)
            }
            guard let setter = property.setter else {
                throw DBusError(name: DBusError.Name.propertyReadOnly, message: "\(name) cannot be written")
            }
            guard case .variant(let value)? = call.arguments.last, value.type == property.value.type else {
                let text = "\(name) is of type \(property.value.type.text)"
                throw DBusError(name: DBusError.Name.invalidArguments, message: text)
            }
            try setter(value)
            set([name: value], of: interface, at: call.path)
            call.answer()
        } catch {
            call.refuse(error)
        }
    }
}
#endif
