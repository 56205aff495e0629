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
    public enum Name {
        /// The reply did not arrive before the call's deadline.
        public static let noReply = "org.freedesktop.DBus.Error.NoReply"
        /// The connection is closed.
        public static let disconnected = "org.freedesktop.DBus.Error.Disconnected"
        /// The bus refused the credentials.
        public static let authenticationFailed = "org.freedesktop.DBus.Error.AuthFailed"
        /// A policy forbids the call.
        public static let accessDenied = "org.freedesktop.DBus.Error.AccessDenied"
        /// A value violates a rule of D-Bus, or the type of a reply is not the expected one.
        public static let invalidArguments = "org.freedesktop.DBus.Error.InvalidArgs"
        /// Out of memory.
        public static let noMemory = "org.freedesktop.DBus.Error.NoMemory"
        /// This process or the bus has reached a limit.
        public static let limitsExceeded = "org.freedesktop.DBus.Error.LimitsExceeded"
        /// A required feature is missing; opening a connection fails with this error if libdbus-1 is not installed.
        public static let notSupported = "org.freedesktop.DBus.Error.NotSupported"
        /// No connection owns the name.
        public static let nameHasNoOwner = "org.freedesktop.DBus.Error.NameHasNoOwner"
        /// No service provides the name.
        public static let serviceUnknown = "org.freedesktop.DBus.Error.ServiceUnknown"
        /// The object does not exist.
        public static let unknownObject = "org.freedesktop.DBus.Error.UnknownObject"
        /// The object has no such method; BlueZ returns this error for a removed object too.
        public static let unknownMethod = "org.freedesktop.DBus.Error.UnknownMethod"
        /// The object has no such interface.
        public static let unknownInterface = "org.freedesktop.DBus.Error.UnknownInterface"
        /// The interface has no such property.
        public static let unknownProperty = "org.freedesktop.DBus.Error.UnknownProperty"
        /// The property cannot be written.
        public static let propertyReadOnly = "org.freedesktop.DBus.Error.PropertyReadOnly"
        /// An unspecified failure.
        public static let failed = "org.freedesktop.DBus.Error.Failed"
        /// The type or signature of a message is not the expected one.
        public static let inconsistentMessage = "org.freedesktop.DBus.Error.InconsistentMessage"
    }
}

extension DBusError {
    static let outOfMemory = DBusError(name: Name.noMemory, message: "out of memory")

    /// This process has no descriptor, or no thread, left.
    package static func exhausted(_ what: String) -> DBusError {
        DBusError(name: Name.limitsExceeded, message: "this process has no \(what) left")
    }
}
#endif
