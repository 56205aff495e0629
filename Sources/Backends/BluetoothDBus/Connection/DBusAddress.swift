#if os(Linux)
import Glibc

/// The address of a message bus.
public enum DBusAddress: Hashable, Sendable {
    /// The system bus: `DBUS_SYSTEM_BUS_ADDRESS`, or the well-known socket.
    case system
    /// The login session's bus: `DBUS_SESSION_BUS_ADDRESS`, or `bus` in `XDG_RUNTIME_DIR`.
    case session
    /// An address in the notation of the specification, such as `unix:path=/run/dbus/system_bus_socket`.
    case explicit(String)

    /// The address's text, with the process's environment.
    ///
    /// - Returns: `nil` if the environment names no session bus.
    public var text: String? {
        text { name in getenv(name).map { String(cString: $0) } }
    }

    /// The address's text, with variables that `environment` looks up.
    func text(environment: (String) -> String?) -> String? {
        switch self {
        case .system:
            environment("DBUS_SYSTEM_BUS_ADDRESS") ?? "unix:path=/var/run/dbus/system_bus_socket"
        case .session:
            environment("DBUS_SESSION_BUS_ADDRESS")
                ?? environment("XDG_RUNTIME_DIR").map { "unix:path=\($0)/bus" }
        case .explicit(let text): text
        }
    }
}
#endif
