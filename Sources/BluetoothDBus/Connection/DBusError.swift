#if os(Linux)
/// A failure on the bus: what the peer, the bus or this library says, always with a D-Bus error name.
public struct DBusError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The D-Bus name, such as `org.bluez.Error.NotReady`.
    public var name: String
    /// The text for people; may be empty.
    public var message: String

    /// Makes an error.
    public init(name: String, message: String) {
        self.name = name
        self.message = message
    }

    /// Name and text, for logs.
    public var description: String { message.isEmpty ? name : "\(name): \(message)" }

    /// Error names that this library gives or tests for.
    public enum Name {
        /// The reply did not come before the call's deadline.
        public static let noReply = "org.freedesktop.DBus.Error.NoReply"
        /// The connection is closed.
        public static let disconnected = "org.freedesktop.DBus.Error.Disconnected"
        /// The bus refused the credentials.
        public static let authenticationFailed = "org.freedesktop.DBus.Error.AuthFailed"
        /// A policy forbids it.
        public static let accessDenied = "org.freedesktop.DBus.Error.AccessDenied"
        /// A value breaks a rule of D-Bus, or a reply has another type than expected.
        public static let invalidArguments = "org.freedesktop.DBus.Error.InvalidArgs"
        /// Out of memory.
        public static let noMemory = "org.freedesktop.DBus.Error.NoMemory"
        /// This process, or the bus, has no more of something.
        public static let limitsExceeded = "org.freedesktop.DBus.Error.LimitsExceeded"
        /// Something that is needed is missing; opening a connection fails so where libdbus-1 is not installed.
        public static let notSupported = "org.freedesktop.DBus.Error.NotSupported"
        /// Nobody owns the name.
        public static let nameHasNoOwner = "org.freedesktop.DBus.Error.NameHasNoOwner"
        /// Nobody provides the name.
        public static let serviceUnknown = "org.freedesktop.DBus.Error.ServiceUnknown"
        /// The object does not exist, or no longer.
        public static let unknownObject = "org.freedesktop.DBus.Error.UnknownObject"
        /// The object has no such method; BlueZ answers so for a vanished object too.
        public static let unknownMethod = "org.freedesktop.DBus.Error.UnknownMethod"
        /// The object has no such interface.
        public static let unknownInterface = "org.freedesktop.DBus.Error.UnknownInterface"
        /// The interface has no such property.
        public static let unknownProperty = "org.freedesktop.DBus.Error.UnknownProperty"
        /// The property cannot be written.
        public static let propertyReadOnly = "org.freedesktop.DBus.Error.PropertyReadOnly"
        /// It failed, for whatever reason.
        public static let failed = "org.freedesktop.DBus.Error.Failed"
        /// A message of another type or signature than expected.
        public static let inconsistentMessage = "org.freedesktop.DBus.Error.InconsistentMessage"
    }
}

extension DBusError {
    static let outOfMemory = DBusError(name: Name.noMemory, message: "out of memory")

    /// This process has no more descriptors, or threads.
    static func exhausted(_ what: String) -> DBusError {
        DBusError(name: Name.limitsExceeded, message: "this process has no \(what) left")
    }

    /// Takes the content of a C error and frees it.
    init(freeing error: inout CDBusError) {
        name = error.name.map { String(cString: $0) } ?? DBusError.Name.inconsistentMessage
        message = error.message.map { String(cString: $0) } ?? ""
        dbus_error_free(&error)
    }
}
#endif
