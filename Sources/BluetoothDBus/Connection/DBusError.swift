#if os(Linux)
/// An error of the peer, of the bus or of this library, with a D-Bus error name.
public struct DBusError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The D-Bus name, such as `org.bluez.Error.NotReady`.
    public var name: String
    /// The human-readable text; may be empty.
    public var message: String

    /// Creates an error.
    public init(name: String, message: String) {
        self.name = name
        self.message = message
    }

    /// The name and the text, for logs.
    public var description: String { message.isEmpty ? name : "\(name): \(message)" }

    /// Error names that this library creates or compares.
    package enum Name {
        /// The reply did not arrive before the call's deadline.
        package static let noReply = "org.freedesktop.DBus.Error.NoReply"
        package static let disconnected = "org.freedesktop.DBus.Error.Disconnected"
        package static let authenticationFailed = "org.freedesktop.DBus.Error.AuthFailed"
        package static let accessDenied = "org.freedesktop.DBus.Error.AccessDenied"
        /// A value violates a rule of D-Bus, or the type of a reply is not the expected one.
        package static let invalidArguments = "org.freedesktop.DBus.Error.InvalidArgs"
        package static let noMemory = "org.freedesktop.DBus.Error.NoMemory"
        /// This process or the bus has reached a limit.
        package static let limitsExceeded = "org.freedesktop.DBus.Error.LimitsExceeded"
        /// A required feature is missing; opening a connection fails with this error if libdbus-1 is not installed.
        package static let notSupported = "org.freedesktop.DBus.Error.NotSupported"
        package static let nameHasNoOwner = "org.freedesktop.DBus.Error.NameHasNoOwner"
        package static let serviceUnknown = "org.freedesktop.DBus.Error.ServiceUnknown"
        package static let unknownObject = "org.freedesktop.DBus.Error.UnknownObject"
        /// The object has no such method; BlueZ returns this error for a removed object too.
        package static let unknownMethod = "org.freedesktop.DBus.Error.UnknownMethod"
        package static let unknownInterface = "org.freedesktop.DBus.Error.UnknownInterface"
        package static let unknownProperty = "org.freedesktop.DBus.Error.UnknownProperty"
        package static let propertyReadOnly = "org.freedesktop.DBus.Error.PropertyReadOnly"
        package static let failed = "org.freedesktop.DBus.Error.Failed"
        /// The type or signature of a message is not the expected one.
        package static let inconsistentMessage = "org.freedesktop.DBus.Error.InconsistentMessage"
    }
}

extension DBusError {
    static let outOfMemory = DBusError(name: Name.noMemory, message: "out of memory")

    /// This process has no descriptor, or no thread, left.
    package static func exhausted(_ what: String) -> DBusError {
        DBusError(name: Name.limitsExceeded, message: "this process has no \(what) left")
    }

    /// Copies the content of a C error and frees it.
    init(freeing error: inout CDBusError) {
        name = error.name.map { String(cString: $0) } ?? DBusError.Name.inconsistentMessage
        message = error.message.map { String(cString: $0) } ?? ""
        dbus_error_free(&error)
    }
}
#endif
