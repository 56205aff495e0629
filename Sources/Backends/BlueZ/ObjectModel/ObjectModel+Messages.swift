#if os(Linux)
import BluetoothDBus

/// Decoding of the daemon's messages directly into the model.
extension ObjectModel {
    /// The daemon's well-known name.
    static let daemonName = "org.bluez"
    static let objectManager = "org.freedesktop.DBus.ObjectManager"
    static let properties = "org.freedesktop.DBus.Properties"

    /// The match rules: four, and none per device, because a bus allows 512.
    ///
    /// BlueZ pitfall: https://github.com/hashtagchris/DotNet-BlueZ/issues/16.
    static let matchRules: [DBusMatchRule] = [
        DBusMatchRule(
            sender: daemonName, pathNamespace: ObjectPath("/org/bluez"), interface: properties,
            member: "PropertiesChanged"),
        DBusMatchRule(
            sender: daemonName, interface: objectManager, member: "InterfacesAdded",
            argument0Path: "/org/bluez/"),
        DBusMatchRule(
            sender: daemonName, interface: objectManager, member: "InterfacesRemoved",
            argument0Path: "/org/bluez/"),
        DBusMatchRule(
            sender: daemonName, pathNamespace: ObjectPath("/org/bluez"), interface: Device1.interface,
            member: "Disconnected"),
    ]

    /// Applies a signal of the daemon; other signals change nothing.
    ///
    /// An advertisement is a change even if it equals the last one, because the device was heard again.
    ///
    /// - Throws: If the signature of the signal differs from the documentation.
    func apply(_ signal: DBusMessage) throws(DBusError) -> [Change] {
        var body = DBusReader(signal)
        if signal.isSignal("org.freedesktop.DBus.Properties", "PropertiesChanged") {
            // Properties of other interfaces are not decoded.
            guard let interface = try body.interfaceName(), let path = signal.path else { return [] }
            let values = try body.array()
            var properties = PropertyReader(interface, path, values, removed: try body.strings())
            var changes = try update(interface, at: path, isNew: false, from: &properties)
            properties.appendMalformed(to: &changes)
            return changes
        }
        if signal.isSignal("org.freedesktop.DBus.ObjectManager", "InterfacesAdded") {
            return try add(body.path(), &body)
        }
        if signal.isSignal("org.freedesktop.DBus.ObjectManager", "InterfacesRemoved") {
            let path = try body.path()
            let names = try body.elements { name throws(DBusError) in try name.interfaceName() }
            return names.compactMap { $0.flatMap { remove($0, at: path) } }
        }
        if signal.isSignal("org.bluez.Device1", "Disconnected"), let path = signal.path {
            givesDisconnectReasons = true
            return [.disconnected(path, reason: try body.string())]
        }
        return []
    }

    /// Applies the reply of `GetManagedObjects`: removes the objects that it does not list, updates known ones, and
    /// adds the rest.
    ///
    /// The reply shows a state and no events, so only differences are changes. The advertisement and the last value of
    /// a known object are not changes.
    ///
    /// - Returns: The changes, those of a parent before those of its children.
    func replace(with reply: DBusMessage) throws(DBusError) -> [Change] {
        let removed = removeAll(except: try Self.listedObjects(reply))
        var body = DBusReader(reply)
        var changes: [(path: ObjectPath, changes: [Change])] = []
        try body.forEachEntry { entry throws(DBusError) in
            let path = try entry.path()
            changes.append((path, try add(path, &entry)))
        }
        changes.sort { $0.path < $1.path }
        return removed + changes.flatMap(\.changes).compactMap(Self.withoutAdvertisement)
    }

    private static func listedObjects(
        _ reply: DBusMessage
    ) throws(DBusError) -> [ObjectPath: Set<RemoteInterfaceName>] {
        var body = DBusReader(reply)
        var listed: [ObjectPath: Set<RemoteInterfaceName>] = [:]
        try body.forEachEntry { entry throws(DBusError) in
            let path = try entry.path()
            try entry.forEachEntry { interface throws(DBusError) in
                if let name = try interface.interfaceName() { listed[path, default: []].insert(name) }
            }
        }
        return listed
    }

    private static func withoutAdvertisement(_ change: Change) -> Change? {
        guard case .deviceChanged(let path, let changes) = change else { return change }
        let rest = changes.subtracting(.advertisement)
        return rest.isEmpty ? nil : .deviceChanged(path, rest)
    }

    /// Reads an `a{sa{sv}}`, the interfaces of an object; unknown interfaces are not decoded.
    private func add(_ path: ObjectPath, _ reader: inout DBusReader) throws(DBusError) -> [Change] {
        var changes: [Change] = []
        try reader.forEachEntry { interface throws(DBusError) in
            guard let name = try interface.interfaceName() else { return }
            var properties = PropertyReader(name, path, try interface.array())
            changes += try update(name, at: path, isNew: true, from: &properties)
            properties.appendMalformed(to: &changes)
        }
        return changes
    }
}

extension DBusReader {
    /// Reads the name of an interface; nil if this backend does not use the interface.
    fileprivate mutating func interfaceName() throws(DBusError) -> RemoteInterfaceName? {
        try withString { RemoteInterfaceName($0) }
    }
}
#endif
