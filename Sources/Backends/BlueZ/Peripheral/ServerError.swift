#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// The meaning of errors between the daemon and this process's objects, in both directions.
///
/// Source: BlueZ, `src/gatt-database.c` (`dbus_error_to_att_ecode`), `src/advertising.c`.
enum ServerError {
    private static let bluez = "org.bluez.Error."

    /// Returns the D-Bus error that makes BlueZ answer with an ATT error code; most codes have none, and become 0x0E.
    ///
    /// From BlueZ 5.66 on, the error's text contains a code between 0x80 and 0x9F.
    static func refusal(_ code: UInt8) -> DBusError {
        switch code {
        case 0x02, 0x03: DBusError(name: bluez + "NotPermitted", message: "not permitted")
        case 0x06: DBusError(name: bluez + "NotSupported", message: "not supported")
        case 0x07: DBusError(name: bluez + "InvalidOffset", message: "invalid offset")
        case 0x08: DBusError(name: bluez + "NotAuthorized", message: "not authorized")
        case 0x0D: DBusError(name: bluez + "InvalidValueLength", message: "invalid length")
        case 0x80...0x9F: DBusError(name: bluez + "Failed", message: "0x" + String(code, radix: 16))
        case 0xFD: DBusError(name: bluez + "ImproperlyConfigured", message: "improperly configured")
        case 0xFE: DBusError(name: bluez + "InProgress", message: "in progress")
        default: DBusError(name: bluez + "UnlikelyError", message: "ATT error 0x" + String(code, radix: 16))
        }
    }

    /// Returns the error of a service that could not be published.
    static func publishing(_ error: DBusError) -> BackendError {
        let code: BackendError.Code =
            switch error.name {
            case bluez + "InvalidArguments", bluez + "AlreadyExists": .invalidParameters
            case bluez + "NotPermitted": .uuidNotAllowed
            case bluez + "NotSupported", DBusError.Name.unknownMethod, DBusError.Name.unknownInterface:
                .operationNotSupported
            case bluez + "Failed" where error.message == "Failed to create entry in database": .outOfSpace
            case DBusError.Name.noReply: .connectionTimeout
            default: .unknown
            }
        return BackendError(code, operation: "RegisterApplication", daemonName: error.name, message: error.message)
    }

    /// Returns the error of an advertisement that could not be started.
    static func advertising(_ error: DBusError) -> BackendError {
        let code: BackendError.Code =
            switch error.name {
            // "Maximum advertisements reached".
            case bluez + "NotPermitted", bluez + "InvalidLength": .outOfSpace
            case bluez + "AlreadyExists": .alreadyAdvertising
            case bluez + "InvalidArguments": .invalidParameters
            case bluez + "Failed" where isTooLong(error): .outOfSpace
            case bluez + "NotSupported", DBusError.Name.unknownMethod, DBusError.Name.unknownInterface:
                .operationNotSupported
            case DBusError.Name.noReply: .connectionTimeout
            default: .unknown
            }
        return BackendError(code, operation: "RegisterAdvertisement", daemonName: error.name, message: error.message)
    }

    /// Whether the advertisement may succeed with less data.
    ///
    /// BlueZ pitfall: data that does not fit is a parse error (https://github.com/bluez/bluez/issues/423).
    static func isTooLong(_ error: DBusError) -> Bool {
        error.name == bluez + "InvalidLength"
            || error.name == bluez + "Failed" && error.message.hasPrefix("Failed to parse advertisement")
    }
}
#endif
