#if os(Linux)
import BluetoothDBus

@testable import BlueZ

/// A message or phase of `bluetoothd`, as tests write it.
///
/// Each message is encoded as a D-Bus message, which the model decodes as if it came from a bus.
enum DaemonMessage {
    /// Properties by interface, as in `GetManagedObjects` and `InterfacesAdded`.
    typealias Interfaces = [String: [String: DBusValue]]

    /// A phase of the daemon, which is not a message.
    case phase(DaemonPhase)
    /// The reply to `GetManagedObjects`.
    case snapshot([ObjectPath: Interfaces])
    case interfacesAdded(ObjectPath, Interfaces)
    case interfacesRemoved(ObjectPath, [String])
    case propertiesChanged(ObjectPath, String, [String: DBusValue], removed: [String] = [])
    case disconnected(ObjectPath, String)

    /// The encoded message.
    var message: DBusMessage {
        get throws(DBusError) {
            switch self {
            case .phase: throw DBusError(name: DBusError.Name.failed, message: "a phase is no message")
            case .snapshot(let objects):
                try .signal(path: .root, interface: "test.Reply", member: "Reply", [.managedObjects(objects)])
            case .interfacesAdded(let path, let interfaces):
                try .signal(
                    path: .root, interface: ObjectModel.objectManager, member: "InterfacesAdded",
                    [.objectPath(path), .interfaces(interfaces)])
            case .interfacesRemoved(let path, let interfaces):
                try .signal(
                    path: .root, interface: ObjectModel.objectManager, member: "InterfacesRemoved",
                    [.objectPath(path), .strings(interfaces)])
            case .propertiesChanged(let path, let interface, let values, let removed):
                try .signal(
                    path: path, interface: ObjectModel.properties, member: "PropertiesChanged",
                    [.string(interface), .properties(values), .strings(removed)])
            case .disconnected(let path, let reason):
                try .signal(
                    path: path, interface: Device1.interface, member: "Disconnected", [.string(reason), .string("")])
            }
        }
    }
}
#endif
