#if os(Linux)
import BluetoothDBus

/// An interface of an object, as introspection describes it.
///
/// Source: D-Bus Specification, "Introspection Data Format"; BlueZ, `doc/org.bluez.*.rst`.
struct InterfaceDefinition: Sendable {
    /// A method; arguments and results are pairs of a name and a type.
    struct Method: Sendable {
        let name: String
        let arguments: KeyValuePairs<String, String>
        let results: KeyValuePairs<String, String>

        var signature: String { arguments.map(\.value).joined() }
    }

    struct Signal: Sendable {
        let name: String
        let arguments: KeyValuePairs<String, String>
    }

    struct Property: Sendable {
        let name: String
        let type: String
        let isWritable: Bool
    }

    let name: String
    private(set) var methods: [Method] = []
    private(set) var signals: [Signal] = []
    private(set) var properties: [Property] = []

    init(_ name: String) { self.name = name }

    func method(_ name: String) -> Method? { methods.first { $0.name == name } }

    func property(_ name: String) -> Property? { properties.first { $0.name == name } }

    // MARK: Building

    /// Returns the interface with another method.
    func method(
        _ name: String, _ arguments: KeyValuePairs<String, String> = [:],
        returning results: KeyValuePairs<String, String> = [:]
    ) -> Self {
        var copy = self
        copy.methods.append(Method(name: name, arguments: arguments, results: results))
        return copy
    }

    func signal(_ name: String, _ arguments: KeyValuePairs<String, String>) -> Self {
        var copy = self
        copy.signals.append(Signal(name: name, arguments: arguments))
        return copy
    }

    func property(_ name: String, _ type: String, isWritable: Bool = false) -> Self {
        var copy = self
        copy.properties.append(Property(name: name, type: type, isWritable: isWritable))
        return copy
    }
}

/// The interfaces that every object has, in addition to its own.
enum StandardInterface {
    static let introspectable = InterfaceDefinition("org.freedesktop.DBus.Introspectable")
        .method("Introspect", returning: ["xml": "s"])

    static let properties = InterfaceDefinition("org.freedesktop.DBus.Properties")
        .method("Get", ["interface": "s", "name": "s"], returning: ["value": "v"])
        .method("Set", ["interface": "s", "name": "s", "value": "v"])
        .method("GetAll", ["interface": "s"], returning: ["properties": "a{sv}"])
        .signal(
            "PropertiesChanged",
            ["interface": "s", "changed_properties": "a{sv}", "invalidated_properties": "as"])

    static let objectManager = InterfaceDefinition("org.freedesktop.DBus.ObjectManager")
        .method("GetManagedObjects", returning: ["objects": "a{oa{sa{sv}}}"])
        .signal("InterfacesAdded", ["object": "o", "interfaces": "a{sa{sv}}"])
        .signal("InterfacesRemoved", ["object": "o", "interfaces": "as"])
}
#endif
