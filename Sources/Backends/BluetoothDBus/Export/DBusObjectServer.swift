#if os(Linux)
import BluetoothSupport
import Logging

/// Exports objects to one peer on the bus: methods, properties that it may only read, and lists of objects.
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

    private let state: Lock<State>

    /// A server without objects, connection or peer.
    package init() {
        state = Lock(State(exported: ExportedObjects()))
        let (standard, manager) = (properties, objectManager)
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
        let old = state.withLock { state in
            state.strangers = []
            return exchange(&state.connection, with: connection)
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
    /// Export the objects below an object manager before the manager, which does not report new ones.
    ///
    /// - Parameters:
    ///   - interfaces: Its interfaces; the standard ones are added.
    ///   - path: The path of the object.
    ///   - isManager: Whether it lists the objects below it (`org.freedesktop.DBus.ObjectManager`).
    package func export(_ interfaces: [DBusInterface], at path: ObjectPath, isManager: Bool = false) {
        state.withLock { $0.exported.add(interfaces, at: path, isManager: isManager) }
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
    private var objectManager: DBusInterface {
        var interface = DBusInterface(Self.managerInterface)
        interface.on("GetManagedObjects") { [weak self] call in
            self?.answer(call) { exported in [exported.managed(below: call.path)] }
        }
        return interface
    }

    private var properties: DBusInterface {
        var interface = DBusInterface(Self.propertiesInterface)
        interface.on("Get", "ss") { [weak self] call in
            self?.answer(call) { exported throws(DBusError) in
                let (interface, name) = try Self.names(call)
                return [.variant(try exported.property(name, of: interface, at: call.path))]
            }
        }
        interface.on("GetAll", "s") { [weak self] call in
            self?.answer(call) { exported throws(DBusError) in
                let interface = call.arguments.first?.stringValue ?? ""
                return [.properties(try exported.interface(interface, at: call.path).properties)]
            }
        }
        // bluetoothd may set `TxPower` of an advertisement, if the controller has `CanSetTxPower`.
        interface.on("Set", "ssv") { [weak self] call in
            self?.answer(call) { exported throws(DBusError) in
                let (interface, name) = try Self.names(call)
                _ = try exported.property(name, of: interface, at: call.path)
                throw DBusError(name: DBusError.Name.propertyReadOnly, message: "\(name) cannot be written")
            }
        }
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
}
#endif
