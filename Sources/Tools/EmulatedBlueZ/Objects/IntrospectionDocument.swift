#if os(Linux)
import BluetoothDBus

/// The description of an object in XML, with the names and types of all arguments.
///
/// Clients such as dbus-python and dbus-next build their proxies from it.
///
/// Pure. Source: D-Bus Specification, "Introspection Data Format".
enum IntrospectionDocument {
    static func text(_ interfaces: [InterfaceDefinition], children: [String]) -> String {
        Introspection.document(interfaces.flatMap(lines), children: children)
    }

    private static func lines(of interface: InterfaceDefinition) -> [String] {
        var lines = ["<interface name=\"\(interface.name)\">"]
        for method in interface.methods {
            lines.append(" <method name=\"\(method.name)\">")
            lines += method.arguments.map { argument($0, " direction=\"in\"") }
            lines += method.results.map { argument($0, " direction=\"out\"") }
            lines.append(" </method>")
        }
        for signal in interface.signals {
            lines.append(" <signal name=\"\(signal.name)\">")
            lines += signal.arguments.map { argument($0, "") }
            lines.append(" </signal>")
        }
        for property in interface.properties {
            let access = property.isWritable ? "readwrite" : "read"
            lines.append(" <property name=\"\(property.name)\" type=\"\(property.type)\" access=\"\(access)\"/>")
        }
        return lines + ["</interface>"]
    }

    private static func argument(_ argument: InterfaceDefinition.Argument, _ direction: String) -> String {
        "  <arg name=\"\(argument.name)\" type=\"\(argument.type)\"\(direction)/>"
    }
}
#endif
