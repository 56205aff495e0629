#if os(Linux)
/// The names of the bus itself.
public enum BusDriver {
    /// The name of the bus and of its interface.
    public static let name = "org.freedesktop.DBus"
    static let path = ObjectPath(validated: "/org/freedesktop/DBus")

    /// A call to the bus; the members used here need no validation.
    static func call(_ member: String, _ body: [DBusValue]) throws(DBusError) -> DBusMessage {
        try .methodCall(to: name, path: path, interface: name, member: member, body)
    }
}
#endif
