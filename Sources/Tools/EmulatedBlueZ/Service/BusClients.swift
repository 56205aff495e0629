#if os(Linux)
import BluetoothDBus

/// The bus connections of an emulated daemon's clients, with their calls.
struct BusClients: Sendable {
    /// The subscription to connections that leave the bus.
    var departures: DBusSubscription?
    /// The subscriptions to signals of the clients that registered objects.
    var subscriptions: [String: [DBusSubscription]] = [:]
    /// The connections that made a call, and whose end is therefore handled.
    private var names: Set<String> = []
    /// The calls that have no answer yet.
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

    /// Removes a connection that left the bus.
    ///
    /// - Returns: Whether the connection was a client.
    mutating func remove(_ name: String) -> Bool {
        subscriptions[name] = nil
        return names.remove(name) != nil
    }
}
#endif
