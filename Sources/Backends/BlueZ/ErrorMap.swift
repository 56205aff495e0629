#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// The meaning of the errors of `bluetoothd`.
///
/// Connects, pairing and attributes have a function each.
///
/// Sources: `doc/org.bluez.*.rst`, `src/error.c`, `src/gatt-client.c` and `src/device.c` of BlueZ.
enum ErrorMap {
    private static let bluez = "org.bluez.Error."

    // MARK: Connecting

    /// The consequence of a failed `Device1.Connect`.
    enum ConnectOutcome: Equatable {
        /// The link is up nevertheless.
        case connected
        /// The connect is tried again after the others.
        case retry
        /// Another connect to this device is pending in `bluetoothd`, perhaps one of an earlier process.
        case busy
        /// The device's object is gone; a scan must find the device first.
        case objectGone
        /// Power is lost, which the state reports.
        case noPower
        /// The connect fails, because further attempts would fail too.
        case fail(BackendError)
    }

    /// Returns the consequence of a failed `Device1.Connect`.
    ///
    /// Apple's connects never time out, so most failures lead to another attempt.
    static func connect(_ error: DBusError) -> ConnectOutcome {
        let text = error.message.lowercased()
        switch error.name {
        case bluez + "AlreadyConnected": return .connected
        case bluez + "NotReady": return .noPower
        case bluez + "InProgress": return .busy
        case bluez + "DoesNotExist", DBusError.Name.unknownObject, DBusError.Name.unknownMethod: return .objectGone
        case DBusError.Name.accessDenied: return fail(.connectionFailed, error)
        default: break
        }
        if text.contains("adapter-not-powered") { return .noPower }
        if text.contains("concurrent-connection-limit") { return fail(.connectionLimitReached, error) }
        if text.contains("key-missing") { return fail(.peerRemovedPairingInformation, error) }
        if text.contains("already-connected") { return .connected }
        if text.contains("-busy") || text.contains("already in progress") { return .busy }
        return .retry
    }

    private static func fail(_ code: BackendError.Code, _ error: DBusError) -> ConnectOutcome {
        .fail(BackendError(code, operation: "Connect", daemonName: error.name, message: error.message))
    }

    // MARK: Pairing

    /// Returns the error of a failed `Device1.Pair` or `Adapter1.RemoveDevice`.
    static func pairing(_ error: DBusError, operation: String) -> BackendError {
        let code: BackendError.Code =
            switch error.name {
            case bluez + "AuthenticationCanceled": .operationCancelled
            case bluez + "AuthenticationRejected": .operationNotSupported
            case bluez + "AuthenticationFailed": .invalidParameters
            case bluez + "AuthenticationTimeout", DBusError.Name.noReply: .encryptionTimedOut
            case bluez + "ConnectionAttemptFailed": .connectionFailed
            case bluez + "DoesNotExist", DBusError.Name.unknownObject, DBusError.Name.unknownMethod: .unknownDevice
            case bluez + "NotReady", DBusError.Name.serviceUnknown, DBusError.Name.disconnected: .notConnected
            default: .unknown
            }
        return BackendError(code, operation: operation, daemonName: error.name, message: error.message)
    }

    // MARK: Attributes

    /// The consequence of a failed read, write or subscription.
    enum AttributeOutcome: Equatable {
        /// The attribute is busy, with an operation of this process or of another program; the operation is tried again
        /// soon.
        case retry
        /// The link is about to end, which `bluetoothd` reports by itself.
        case linkLost(BackendError)
        /// The operation fails with this error.
        case fail(BackendError)
    }

    /// Returns the consequence of a failed method of `GattCharacteristic1` or `GattDescriptor1`.
    ///
    /// - Parameter isPaired: Distinguishes missing encryption from missing authentication, which BlueZ merges.
    static func attribute(_ error: DBusError, operation: String, isPaired: Bool) -> AttributeOutcome {
        func att(_ code: UInt8) -> AttributeOutcome {
            .fail(.att(code, operation: operation, daemonName: error.name, message: error.message))
        }
        func local(_ code: BackendError.Code) -> BackendError {
            BackendError(code, operation: operation, daemonName: error.name, message: error.message)
        }
        switch error.name {
        case bluez + "InProgress", "org.freedesktop.DBus.Error.LimitsExceeded": return .retry
        case bluez + "NotConnected", bluez + "NotReady": return .linkLost(local(.notConnected))
        case bluez + "NotAuthorized": return att(0x08)
        case bluez + "NotSupported":
            return operation == "StartNotify" ? .fail(local(.operationNotSupported)) : att(0x06)
        case bluez + "InvalidOffset": return att(0x07)
        case bluez + "InvalidValueLength": return att(0x0D)
        case bluez + "InvalidArguments":
            switch error.message {
            case "Invalid offset": return att(0x07)
            case "Invalid Length": return att(0x0D)
            default: return .fail(local(.invalidParameters))
            }
        case bluez + "NotPermitted": return notPermitted(error, local, att, isPaired: isPaired)
        case bluez + "Failed": return failed(error, local, att)
        case DBusError.Name.unknownObject, DBusError.Name.unknownMethod: return .fail(local(.invalidHandle))
        case DBusError.Name.noReply: return .fail(local(.connectionTimeout))
        case DBusError.Name.disconnected, DBusError.Name.serviceUnknown: return .linkLost(local(.notConnected))
        default: return .fail(local(.unknown))
        }
    }

    /// Returns the error of a subscription that is not tried again.
    static func subscription(_ error: DBusError, isPaired: Bool) -> BackendError {
        switch attribute(error, operation: "StartNotify", isPaired: isPaired) {
        case .retry: stillBusy(error, operation: "StartNotify")
        case .linkLost(let error), .fail(let error): error
        }
    }

    /// Returns the error of an attribute that is busy after all retries.
    static func stillBusy(_ error: DBusError, operation: String) -> BackendError {
        BackendError(.unknown, operation: operation, daemonName: error.name, message: error.message)
    }

    private static func notPermitted(
        _ error: DBusError, _ local: (BackendError.Code) -> BackendError, _ att: (UInt8) -> AttributeOutcome,
        isPaired: Bool
    ) -> AttributeOutcome {
        switch error.message {
        case "Read not permitted": att(0x02)
        case "Write not permitted": att(0x03)
        // 0x05, 0x0C and 0x0F share one text: without a bond, more than encryption is missing.
        case "Not paired": att(isPaired ? 0x0F : 0x05)
        default: .fail(local(.operationNotSupported))
        }
    }

    private static func failed(
        _ error: DBusError, _ local: (BackendError.Code) -> BackendError, _ att: (UInt8) -> AttributeOutcome
    ) -> AttributeOutcome {
        let prefix = "Operation failed with ATT error: 0x"
        if error.message.hasPrefix(prefix), let code = UInt8(error.message.dropFirst(prefix.count), radix: 16) {
            return att(code)
        }
        return error.message == "Not connected" ? .linkLost(local(.notConnected)) : att(0x0E)
    }
}
#endif
