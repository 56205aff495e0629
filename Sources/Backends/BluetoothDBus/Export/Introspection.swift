#if os(Linux)
/// An object described in XML.
///
/// Pure.
///
/// Source: D-Bus Specification, "Introspection Data Format".
package enum Introspection {
    private static let head = """
        <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
        "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">

        """

    /// The description of the object at a path.
    static func xml(of interfaces: [DBusInterface], children: [String]) -> String {
        document(interfaces.flatMap(lines), children: children)
    }

    /// The description of an object with interfaces whose lines are given.
    ///
    /// No text needs escaping, because names and signatures contain no special characters of XML.
    package static func document(_ interfaces: [String], children: [String]) -> String {
        let lines = interfaces + children.map { "<node name=\"\($0)\"/>" }
        return head + (["<node>"] + lines.map { " \($0)" } + ["</node>"]).joined(separator: "\n") + "\n"
    }

    private static func lines(of interface: DBusInterface) -> [String] {
        var lines = ["<interface name=\"\(interface.name)\">"]
        for (name, method) in interface.methods.sorted(by: { $0.key < $1.key }) {
            lines.append(" <method name=\"\(name)\">")
            lines += method.arguments.types.map { "  <arg type=\"\($0.text)\" direction=\"in\"/>" }
            lines += method.results.types.map { "  <arg type=\"\($0.text)\" direction=\"out\"/>" }
            lines.append(" </method>")
        }
        for (name, property) in interface.properties.sorted(by: { $0.key < $1.key }) {
            let access = property.setter == nil ? "read" : "readwrite"
            lines.append(" <property name=\"\(name)\" type=\"\(property.value.type.text)\" access=\"\(access)\"/>")
        }
        return lines + ["</interface>"]
    }
}
#endif
