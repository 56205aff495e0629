#if os(Linux)
/// The description of an object in XML, with the names and types of all arguments.
///
/// Clients such as dbus-python and dbus-next build their proxies from it.
///
/// Pure. Source: D-Bus Specification, "Introspection Data Format".
enum IntrospectionDocument {
    private static let head = """
        <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
        "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">

        """

    /// Returns the description of an object with interfaces.
    ///
    /// No text needs escaping, because names and signatures contain no special characters of XML.
    static func text(_ interfaces: [InterfaceDefinition], children: [String]) -> String {
        let nodes = children.map { "<node name=\"\($0)\"/>" }
        let contents = (interfaces.flatMap(lines) + nodes).map { " \($0)" }
        return head + (["<node>"] + contents + ["</node>"]).joined(separator: "\n") + "\n"
    }

    private static func lines(of interface: InterfaceDefinition) -> [String] {
        var lines = ["<interface name=\"\(interface.name)\">"]
        for method in interface.methods {
            lines.append(" <method name=\"\(method.name)\">")
            lines += arguments(method.arguments, " direction=\"in\"")
            lines += arguments(method.results, " direction=\"out\"")
            lines.append(" </method>")
        }
        for signal in interface.signals {
            lines.append(" <signal name=\"\(signal.name)\">")
            lines += arguments(signal.arguments)
            lines.append(" </signal>")
        }
        for property in interface.properties {
            let access = property.isWritable ? "readwrite" : "read"
            lines.append(" <property name=\"\(property.name)\" type=\"\(property.type)\" access=\"\(access)\"/>")
        }
        return lines + ["</interface>"]
    }

    private static func arguments(_ arguments: KeyValuePairs<String, String>, _ direction: String = "") -> [String] {
        arguments.map { name, type in "  <arg name=\"\(name)\" type=\"\(type)\"\(direction)/>" }
    }
}
#endif
