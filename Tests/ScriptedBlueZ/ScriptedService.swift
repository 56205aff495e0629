#if os(Linux)
public import BluetoothDBus
import BluetoothSupport
import Dispatch
import Synchronization

/// A service on a private bus whose objects are data and whose methods are answered by closures.
///
/// It serves `org.freedesktop.DBus.ObjectManager` at `/` and `org.freedesktop.DBus.Properties` everywhere, as a healthy
/// daemon does, unless a handler replaces them. Any thread.
public final class ScriptedService: Sendable {
    /// The outcome of a call.
    public enum Answer: Sendable {
        /// A reply with these arguments.
        case values([DBusValue])
        /// A refusal.
        case error(DBusError)
        /// No reply, or a later one through ``ScriptedService/answer(_:with:)``.
        case none
    }

    /// Properties by interface.
    public typealias Interfaces = [String: [String: DBusValue]]
    /// Answers a call; runs on GDBus's worker thread.
    public typealias Handler = @Sendable (ScriptedCall) -> Answer

    private struct State {
        var objects: [String: Interfaces] = [:]
        var handlers: [String: Handler] = [:]
        var peer: GIOPeer?
    }

    private let state = Lock(State())
    /// Every call received, in order, for tests to wait on.
    ///
    /// Its handler may still be running.
    public let calls = Recorder<ScriptedCall>()
    /// Every call whose handler has run, in order, for tests that look at what the handler changed.
    public let handledCalls = Recorder<ScriptedCall>()
    /// Every signal received that the bus itself did not send, in order.
    public let signals = Recorder<ScriptedCall>()
    private let address: DBusAddress

    /// Connects to the bus and, if `name` is given, owns it.
    public init(on bus: PrivateBus, owning name: String? = nil) throws {
        address = bus.address
        try start(owning: name)
    }

    deinit { stop() }

    private var peer: GIOPeer? { state.withLock { $0.peer } }

    /// This connection's unique name; empty while stopped.
    public var uniqueName: String { peer?.uniqueName ?? "" }

    /// Joins the bus again, as a restarted daemon does, under a new unique name.
    public func start(owning name: String?) throws {
        let peer = try GIOPeer(address: address) { [weak self] call in
            self?.received(call)
        } hear: { [weak self] signal in
            if signal.sender != BusDriver.name { self?.signals.append(signal) }
        }
        state.withLock { $0.peer = peer }
        if let name { try peer.own(name) }
    }

    /// Leaves the bus, as a crash does; the objects stay for the next start.
    public func stop() {
        let peer = state.withLock { $0.peer.take() }
        peer?.close()
    }

    /// Releases a name while staying on the bus.
    public func release(_ name: String) throws {
        try peer?.release(name)
    }

    // MARK: Methods

    /// Sets the handler of a method of every object, and replaces an earlier one.
    public func on(_ interface: String, _ member: String, _ handler: @escaping Handler) {
        state.withLock { $0.handlers["\(interface).\(member)"] = handler }
    }

    /// Answers a call that a handler left unanswered.
    public func answer(_ call: ScriptedCall, with answer: Answer) {
        switch answer {
        case .values(let values): peer?.answer(call, values)
        case .error(let error): peer?.refuse(call, error)
        case .none: break
        }
    }

    /// Calls a method of another connection, through GDBus.
    ///
    /// - Throws: The callee's error, as a ``DBusError``.
    public func call(
        _ destination: String, _ path: String, _ interface: String?, _ member: String, _ body: [DBusValue] = []
    ) async throws -> [DBusValue] {
        guard let peer else { throw DBusError(name: DBusError.Name.disconnected, message: "stopped") }
        // GDBus blocks the thread until the reply.
        return try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(
                    with: Result {
                        try peer.call(destination, path: path, interface: interface, member: member, body)
                    })
            }
        }
    }

    private func received(_ call: ScriptedCall) {
        calls.append(call)
        let handler = state.withLock { $0.handlers["\(call.interface).\(call.member)"] }
        let answer = handler?(call) ?? standardAnswer(call)
        handledCalls.append(call)
        self.answer(call, with: answer)
    }

    private func standardAnswer(_ call: ScriptedCall) -> Answer {
        switch (call.interface, call.member) {
        case ("org.freedesktop.DBus.ObjectManager", "GetManagedObjects"):
            return .values([managedObjects])
        case ("org.freedesktop.DBus.Properties", "Get"):
            guard let interface = call.body.first?.stringValue, let name = call.body.last?.stringValue,
                let value = state.withLock({ $0.objects[call.path]?[interface]?[name] })
            else { return .error(DBusError(name: "org.freedesktop.DBus.Error.UnknownProperty", message: "")) }
            return .values([.variant(value)])
        case ("org.freedesktop.DBus.Properties", "GetAll"):
            let interface = call.body.first?.stringValue ?? ""
            return .values([.properties(state.withLock { $0.objects[call.path]?[interface] ?? [:] })])
        default:
            let exists = state.withLock { $0.objects[call.path] } != nil
            return .error(
                DBusError(
                    name: exists ? DBusError.Name.unknownMethod : DBusError.Name.unknownObject,
                    message: "\(call.interface).\(call.member) on \(call.path)"))
        }
    }

    private var managedObjects: DBusValue {
        let objects = state.withLock { $0.objects }.compactMap { path, interfaces in
            ObjectPath(path).map { ($0, interfaces) }
        }
        return .managedObjects(Dictionary(uniqueKeysWithValues: objects))
    }

    /// Interfaces and properties as `a{sa{sv}}`.
    public static func value(of interfaces: Interfaces) -> DBusValue { .interfaces(interfaces) }
}

// MARK: - Objects

extension ScriptedService {
    /// The paths of all objects, sorted.
    public var paths: [String] { state.withLock { $0.objects.keys.sorted() } }

    /// Adds an object, or interfaces to one.
    public func add(_ path: String, _ interfaces: Interfaces, announce: Bool = true) {
        state.withLock { $0.objects[path, default: [:]].merge(interfaces) { $1 } }
        guard announce, let value = ObjectPath(path) else { return }
        emit(
            "/", "org.freedesktop.DBus.ObjectManager", "InterfacesAdded",
            [.objectPath(value), Self.value(of: interfaces)])
    }

    /// Removes an object and all objects below it, the deepest first.
    public func remove(_ path: String, announce: Bool = true) {
        let gone = state.withLock { state -> [(String, [String])] in
            let paths = state.objects.keys.filter { $0 == path || $0.hasPrefix(path + "/") }.sorted(by: >)
            return paths.map { ($0, (state.objects.removeValue(forKey: $0) ?? [:]).keys.sorted()) }
        }
        guard announce else { return }
        for (path, interfaces) in gone {
            guard let value = ObjectPath(path) else { continue }
            emit(
                "/", "org.freedesktop.DBus.ObjectManager", "InterfacesRemoved",
                [.objectPath(value), .strings(interfaces)])
        }
    }

    /// Changes properties and emits the signal.
    public func set(
        _ path: String, _ interface: String, _ values: [String: DBusValue], removing removed: [String] = [],
        announce: Bool = true
    ) {
        state.withLock { state in
            state.objects[path, default: [:]][interface, default: [:]].merge(values) { $1 }
            for name in removed { state.objects[path]?[interface]?[name] = nil }
        }
        guard announce else { return }
        emit(
            path, "org.freedesktop.DBus.Properties", "PropertiesChanged",
            [.string(interface), .properties(values), .strings(removed)])
    }

    /// Returns the current value of a property.
    public func property(_ path: String, _ interface: String, _ name: String) -> DBusValue? {
        state.withLock { $0.objects[path]?[interface]?[name] }
    }

    /// Sends any signal.
    public func emit(_ path: String, _ interface: String, _ member: String, _ body: [DBusValue]) {
        peer?.emit(path: path, interface: interface, member: member, body)
    }
}
#endif
