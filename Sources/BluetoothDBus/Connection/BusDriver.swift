#if os(Linux)
/// The names under which the bus itself is addressed.
public enum BusDriver {
    /// The bus's name and its interface's.
    public static let name = "org.freedesktop.DBus"
    static let path = ObjectPath(validated: "/org/freedesktop/DBus")

    /// A call to the bus; the members used here need no validation.
    static func call(_ member: String, _ body: [DBusValue]) throws(DBusError) -> DBusMessage {
        try .methodCall(to: name, path: path, interface: name, member: member, body)
    }
}
#endif
