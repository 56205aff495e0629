#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// The errors of `bluetoothd`, with its names and texts, which clients compare.
///
/// Source: BlueZ, `src/error.c`, `src/gatt-client.c`, `gdbus/object.c`.
enum BlueZError {
    private static func make(_ name: String, _ text: String) -> DBusError {
        DBusError(name: "org.bluez.Error.\(name)", message: text)
    }

    static let invalidArguments = invalidArguments("Invalid arguments in method call")
    static let inProgress = make("InProgress", "Operation already in progress")
    static let busy = make("InProgress", "In Progress")
    static let alreadyExists = make("AlreadyExists", "Already Exists")
    static let doesNotExist = make("DoesNotExist", "Does Not Exist")
    static let providerExists = make("AlreadyExists", "Provider already exists")
    static let noProvider = make("DoesNotExist", "Provider does not exist")
    static let notSupported = make("NotSupported", "Operation is not supported")
    static let notReady = notReady("Resource Not Ready")
    /// The only error without a text.
    static let changing = make("Busy", "")
    static let notAuthorized = make("NotAuthorized", "Operation Not Authorized")
    static let alreadyConnected = make("AlreadyConnected", "Already Connected")
    static let notConnected = make("NotConnected", "Not Connected")
    static let authenticationCanceled = make("AuthenticationCanceled", "Authentication Canceled")
    static let authenticationFailed = make("AuthenticationFailed", "Authentication Failed")
    static let authenticationTimeout = make("AuthenticationTimeout", "Authentication Timeout")
    static let connectionAttemptFailed = make("ConnectionAttemptFailed", "Page Timeout")

    static func notReady(_ text: String) -> DBusError { make("NotReady", text) }
    static func invalidArguments(_ text: String) -> DBusError { make("InvalidArguments", text) }
    static func failed(_ text: String) -> DBusError { make("Failed", text) }
    static func notPermitted(_ text: String) -> DBusError { make("NotPermitted", text) }

    // MARK: GATT

    /// The error of a read, write or subscription that the other side refused or the end of the link interrupted.
    static func attribute(_ error: BackendError) -> DBusError {
        guard let code = error.attCode else {
            switch error.code {
            case .notConnected, .peerDisconnected, .connectionTimeout: return failed("Not connected")
            case .operationNotSupported: return notSupported
            case .invalidHandle: return failed("Operation failed with ATT error: 0x01")
            default: return failed("Operation failed")
            }
        }
        switch code {
        case 0x02: return notPermitted("Read not permitted")
        case 0x03: return notPermitted("Write not permitted")
        case 0x05, 0x0C, 0x0F: return notPermitted("Not paired")
        case 0x06: return notSupported
        case 0x07: return invalidArguments("Invalid offset")
        case 0x08: return notAuthorized
        case 0x0D: return invalidArguments("Invalid Length")
        default: return failed("Operation failed with ATT error: 0x" + (code < 16 ? "0" : "") + String(code, radix: 16))
        }
    }

    // MARK: Links

    /// The text of `EALREADY`.
    static let alreadyConnecting = failed("Operation already in progress")

    static func connect(_ error: BackendError) -> DBusError {
        switch error.code {
        case .connectionLimitReached: failed("le-concurrent-connection-limit")
        case .operationCancelled: failed("br-connection-canceled")
        default: failed("le-connection-abort-by-local")
        }
    }

    /// The error of a failed pairing.
    ///
    /// The kernel reports every refusal by the Security Manager, on either side, as a failed authentication.
    ///
    /// Source: Linux, `net/bluetooth/smp.c`, `smp_failure`; BlueZ, `src/device.c`, `new_authentication_return`.
    static func pairing(_ error: BackendError) -> DBusError {
        switch error.code {
        case .operationCancelled: authenticationCanceled
        case .encryptionTimedOut: authenticationTimeout
        case .connectionFailed, .unknownDevice: connectionAttemptFailed
        case .tooManyPairedDevices: failed("Operation failed")
        default: authenticationFailed
        }
    }

    // MARK: Objects

    static func noProperty(_ name: String) -> DBusError {
        DBusError(name: DBusError.Name.invalidArguments, message: "No such property '\(name)'")
    }

    static func unknownProperty(_ name: String) -> DBusError {
        DBusError(name: DBusError.Name.unknownProperty, message: "No such property '\(name)'")
    }

    static func noInterface(_ name: String) -> DBusError {
        DBusError(name: DBusError.Name.invalidArguments, message: "No such interface '\(name)'")
    }

    static func readOnly(_ name: String) -> DBusError {
        DBusError(name: DBusError.Name.propertyReadOnly, message: "Property '\(name)' is not writable")
    }

    static func wrongType(_ name: String) -> DBusError {
        DBusError(
            name: "org.freedesktop.DBus.Error.InvalidSignature", message: "Invalid signature for '\(name)'")
    }

    /// The error for an unknown method, or for an object that no longer exists.
    static func unknown(_ call: ClientCall, isObjectThere: Bool) -> DBusError {
        let interface = call.interface.isEmpty ? "(null)" : call.interface
        return DBusError(
            name: isObjectThere ? DBusError.Name.unknownMethod : DBusError.Name.unknownObject,
            message: """
                Method "\(call.member)" with signature "\(call.signature)" on interface "\(interface)" doesn't exist

                """)
    }
}
#endif
