#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// `org.bluez.Agent1`: the questions of the daemon during a pairing.
///
/// Source: `doc/org.bluez.Agent.rst` of BlueZ.
enum Agent1 {
    static let name = "org.bluez.Agent1"
    /// The error that refuses a request.
    static let rejection = DBusError(name: "org.bluez.Error.Rejected", message: "refused")

    /// The meaning of a call.
    enum Request: Equatable {
        /// A question about the pairing with a device.
        case ask(PairingQuestion, ObjectPath)
        /// A request of a device that is always refused.
        case unwanted(Refusal, ObjectPath)
        case cancel
        case release
    }

    /// Returns the interface, whose calls go to `handler`.
    static func interface(_ handler: @escaping @Sendable (DBusCall) -> Void) -> DBusInterface {
        var interface = DBusInterface(name)
        interface.on("Release", handler: handler)
        interface.on("RequestPinCode", "o", handler: handler)
        interface.on("DisplayPinCode", "os", handler: handler)
        interface.on("RequestPasskey", "o", handler: handler)
        interface.on("DisplayPasskey", "ouq", handler: handler)
        interface.on("RequestConfirmation", "ou", handler: handler)
        interface.on("RequestAuthorization", "o", handler: handler)
        interface.on("AuthorizeService", "os", handler: handler)
        interface.on("Cancel", handler: handler)
        return interface
    }

    /// Returns the meaning of a call; nil for a malformed call, which is refused.
    static func request(_ member: String, _ arguments: [DBusValue]) -> Request? {
        switch member {
        case "Cancel": return .cancel
        case "Release": return .release
        default: break
        }
        guard let path = arguments.first?.pathValue else { return nil }
        let number = arguments.count > 1 ? arguments[1].uint32Value.flatMap(passkey) : nil
        switch member {
        case "RequestPasskey": return .ask(.enterPasskey, path)
        case "RequestAuthorization": return .ask(.consent, path)
        case "DisplayPasskey": return number.map { .ask(.display(passkey: $0), path) }
        case "RequestConfirmation": return number.map { .ask(.confirm(passkey: $0), path) }
        case "AuthorizeService": return .unwanted(.service(arguments.last?.stringValue ?? "?"), path)
        case "RequestPinCode", "DisplayPinCode": return .unwanted(.pinCode, path)
        default: return nil
        }
    }

    private static func passkey(_ number: UInt32) -> Int? {
        number <= 999_999 ? Int(number) : nil
    }
}
#endif
