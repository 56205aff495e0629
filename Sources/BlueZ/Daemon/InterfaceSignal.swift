#if os(Linux)
import BluetoothDBus

/// The signals of `bluetoothd` that the mirror of its objects needs, and its snapshot.
enum InterfaceSignal {
    static let objectManager = "org.freedesktop.DBus.ObjectManager"
    static let properties = "org.freedesktop.DBus.Properties"

    /// Four rules, never one per device: a bus allows 512.
    ///
    /// BlueZ pitfall: https://github.com/hashtagchris/DotNet-BlueZ/issues/16.
    static let rules: [DBusMatchRule] = [
        DBusMatchRule(
            sender: BlueZDaemon.name, pathNamespace: ObjectPath("/org/bluez"), interface: properties,
            member: "PropertiesChanged"),
        DBusMatchRule(
            sender: BlueZDaemon.name, interface: objectManager, member: "InterfacesAdded",
            argument0Path: "/org/bluez/"),
        DBusMatchRule(
            sender: BlueZDaemon.name, interface: objectManager, member: "InterfacesRemoved",
            argument0Path: "/org/bluez/"),
        DBusMatchRule(
            sender: BlueZDaemon.name, pathNamespace: ObjectPath("/org/bluez"), interface: Device1.interface,
            member: "Disconnected"),
    ]

    /// What a signal says to the host; nil for others.
    ///
    /// - Throws: Where the signal has another signature than documented.
    static func input(_ message: DBusMessage) throws(DBusError) -> CentralRoleInput? {
        var body = DBusReader(message)
        if message.isSignal("org.freedesktop.DBus.Properties", "PropertiesChanged") {
            guard let path = message.path else { return nil }
            let interface = try body.string()
            // Skips what nobody here reads, before it is decoded.
            guard isKnown(interface) else { return nil }
            return .propertiesChanged(path, interface, try body.properties(), removed: try body.strings())
        }
        if message.isSignal("org.freedesktop.DBus.ObjectManager", "InterfacesAdded") {
            return .interfacesAdded(try body.path(), try interfaces(&body))
        }
        if message.isSignal("org.freedesktop.DBus.ObjectManager", "InterfacesRemoved") {
            return .interfacesRemoved(try body.path(), try body.strings())
        }
        if message.isSignal("org.bluez.Device1", "Disconnected"), let path = message.path {
            return .disconnectReason(path, try body.string())
        }
        return nil
    }

    /// The reply of `GetManagedObjects`.
    static func snapshot(_ message: DBusMessage) throws(DBusError) -> [ObjectPath: ObjectTree.Interfaces] {
        var body = DBusReader(message)
        var entries = try body.array()
        var objects: [ObjectPath: ObjectTree.Interfaces] = [:]
        while !entries.isAtEnd {
            var entry = try entries.dictionaryEntry()
            let path = try entry.path()
            objects[path] = try interfaces(&entry)
        }
        return objects
    }

    /// An `a{sa{sv}}`; interfaces that nobody here reads are left out.
    private static func interfaces(_ reader: inout DBusReader) throws(DBusError) -> ObjectTree.Interfaces {
        var entries = try reader.array()
        var interfaces: ObjectTree.Interfaces = [:]
        while !entries.isAtEnd {
            var entry = try entries.dictionaryEntry()
            let name = try entry.string()
            if isKnown(name) { interfaces[name] = try entry.properties() }
        }
        return interfaces
    }

    private static func isKnown(_ interface: String) -> Bool {
        switch interface {
        case Device1.interface, GattCharacteristic1.interface, Adapter1.interface, GattService1.interface,
            GattDescriptor1.interface, LEAdvertisingManager1.interface:
            true
        default: false
        }
    }
}
#endif
