#if os(Linux)
/// One interface of an exported object: its methods, and its properties with their values.
public struct DBusInterface: Sendable {
    /// A method.
    public struct Method: Sendable {
        /// The signature of the arguments; a call with another signature is refused without calling the handler.
        public let arguments: DBusSignature
        /// The signature of the reply, for introspection.
        public let results: DBusSignature
        /// Runs on the connection's queue, and replies now or later.
        public let handler: @Sendable (DBusCall) -> Void
    }

    /// A property.
    public struct Property: Sendable {
        /// The value, not wrapped in a variant; it determines the type.
        public internal(set) var value: DBusValue
        /// Receives a value of the right type that a caller sets; nil if the property is read-only.
        ///
        /// Runs on the connection's queue. If it does not throw, the value changes, and the peer is notified.
        public let setter: (@Sendable (DBusValue) throws(DBusError) -> Void)?
    }

    /// The name, such as `org.bluez.GattService1`.
    public let name: String
    /// Methods by name.
    public private(set) var methods: [String: Method] = [:]
    /// Properties by name.
    public internal(set) var properties: [String: Property] = [:]

    /// Creates an interface without methods.
    ///
    /// - Parameters:
    ///   - name: Its name; it must be valid.
    ///   - properties: The properties that callers may read.
    public init(_ name: String, properties: [String: DBusValue] = [:]) {
        precondition(DBusName.isInterface(name), "not a valid interface name: \(name)")
        self.name = name
        for (name, value) in properties { add(property: name, value) }
    }

    /// Adds a method.
    ///
    /// - Parameters:
    ///   - name: Its name; it must be valid.
    ///   - arguments: The signature of its arguments; it must be valid.
    ///   - results: The signature of its reply; it must be valid.
    ///   - handler: Runs on the connection's queue, and replies now or later.
    public mutating func on(
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
    ///   - name: Its name; it must be valid.
    ///   - value: Its value, whose type does not change later.
    ///   - setter: Makes the property writable: receives a value that a caller sets, or refuses it.
    public mutating func add(
        property name: String, _ value: DBusValue, setter: (@Sendable (DBusValue) throws(DBusError) -> Void)? = nil
    ) {
        precondition(DBusName.isMember(name), "not a valid property name: \(name)")
        properties[name] = Property(value: value, setter: setter)
    }

    /// The names and values of all properties.
    var values: [String: DBusValue] { properties.mapValues(\.value) }
}
#endif
