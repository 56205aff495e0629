#if os(Linux)
import BluetoothDBus

/// The connections on the bus that use an emulated daemon, with their calls.
struct BusClients: Sendable {
    /// Reports each connection that leaves the bus.
    var departures: DBusSubscription?
    /// The signals of the clients that registered objects.
    var subscriptions: [String: [DBusSubscription]] = [:]
    /// The connections that called something, whose end matters.
    private var names: Set<String> = []
    /// The calls that are not answered yet.
    private var calls: [ClientCallID: DBusCall] = [:]
    private var lastCall: UInt64 = 0

    mutating func add(_ call: DBusCall) -> ClientCallID {
        lastCall += 1
        let id = ClientCallID(rawValue: lastCall)
        calls[id] = call
        names.insert(call.sender)
        return id
    }

    mutating func removeCall(_ id: ClientCallID) -> DBusCall? { calls.removeValue(forKey: id) }

    /// A connection left the bus.
    ///
    /// - Returns: Whether it was a client.
    mutating func remove(_ name: String) -> Bool {
        subscriptions[name] = nil
        return names.remove(name) != nil
    }
}
#endif
