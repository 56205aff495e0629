#if os(Linux)
/// One interface of an exported object: its methods, and its properties with their values.
package struct DBusInterface: Sendable {
    package struct Method: Sendable {
        /// The signature of the arguments; a call with another signature is refused without calling the handler.
        package let arguments: DBusSignature
        /// The signature of the reply, for introspection.
        package let results: DBusSignature
        /// Runs on the connection's queue, and replies now or later.
        package let handler: @Sendable (DBusCall) -> Void
    }

    package struct Property: Sendable {
        /// The value, not wrapped in a variant; it determines the type.
        package internal(set) var value: DBusValue
        /// Receives a value of the right type that a caller sets; nil if the property is read-only.
        ///
        /// Runs on the connection's queue. If it does not throw, the value changes, and the peer is notified.
        package let setter: (@Sendable (DBusValue) throws(DBusError) -> Void)?
    }

    /// The name, such as `org.bluez.GattService1`.
    package let name: String
    package private(set) var methods: [String: Method] = [:]
    package internal(set) var properties: [String: Property] = [:]

    /// Creates an interface of a valid name, without methods, and with properties that callers may only read.
    package init(_ name: String, properties: [String: DBusValue] = [:]) {
        precondition(DBusName.isInterface(name), "not a valid interface name: \(name)")
        self.name = name
        for (name, value) in properties { add(property: name, value) }
    }

    /// Adds a method; its name and the signatures of its arguments and results must be valid.
    package mutating func on(
        _ name: String, _ arguments: String = "", returning results: String = "",
        handler: @escaping @Sendable (DBusCall) -> Void
    ) {
        guard DBusName.isMember(name), let arguments = DBusSignature(arguments), let results = DBusSignature(results)
        else { preconditionFailure("not a valid method: \(name)(\(arguments)) -> (\(results))") }
        methods[name] = Method(arguments: arguments, results: results, handler: handler)
    }

    /// Adds a property.
    ///
    /// - Parameters:
    ///   - name: A valid name.
    ///   - value: Its value, whose type does not change later.
    ///   - setter: Makes the property writable: receives a value that a caller sets, or refuses it.
    package mutating func add(
        property name: String, _ value: DBusValue, setter: (@Sendable (DBusValue) throws(DBusError) -> Void)? = nil
    ) {
        precondition(DBusName.isMember(name), "not a valid property name: \(name)")
        properties[name] = Property(value: value, setter: setter)
    }

    var values: [String: DBusValue] { properties.mapValues(\.value) }
}
#endif
