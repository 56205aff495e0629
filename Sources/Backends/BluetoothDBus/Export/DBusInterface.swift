#if os(Linux)
/// One interface of an exported object: its methods, and its properties with their values.
package struct DBusInterface: Sendable {
    package struct Method: Sendable {
        /// The signature of the arguments; a call with another signature is refused without calling the handler.
        package let arguments: DBusSignature
        /// Runs on the connection's queue, and replies now or later.
        package let handler: @Sendable (DBusCall) -> Void
    }

    /// The name, such as `org.bluez.GattService1`.
    package let name: String
    package private(set) var methods: [String: Method] = [:]
    /// The values, which callers may only read, not wrapped in variants.
    package let properties: [String: DBusValue]

    /// Creates an interface of a valid name, without methods, and with properties of valid names.
    package init(_ name: String, properties: [String: DBusValue] = [:]) {
        precondition(DBusName.isInterface(name), "not a valid interface name: \(name)")
        for name in properties.keys { precondition(DBusName.isMember(name), "not a valid property name: \(name)") }
        self.name = name
        self.properties = properties
    }

    /// Adds a method; its name and the signature of its arguments must be valid.
    package mutating func on(
        _ name: String, _ arguments: String = "", handler: @escaping @Sendable (DBusCall) -> Void
    ) {
        guard DBusName.isMember(name), let arguments = DBusSignature(arguments) else {
            preconditionFailure("not a valid method: \(name)(\(arguments))")
        }
        methods[name] = Method(arguments: arguments, handler: handler)
    }
}
#endif
