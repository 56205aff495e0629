#if os(Linux)
import Glibc

/// Owns one reference to a libdbus message.
///
/// Only one thread may use a message at a time: the caller's while it is built, the connection's queue after receipt.
public final class DBusMessage {
    let raw: OpaquePointer

    /// Takes the caller's reference.
    init(adopting raw: OpaquePointer) { self.raw = raw }

    /// Takes the caller's reference to a new message, nil without memory, and appends a body.
    private static func adopt(_ raw: OpaquePointer?, _ body: [DBusValue] = []) throws(DBusError) -> DBusMessage {
        guard let raw else { throw .outOfMemory }
        let message = DBusMessage(adopting: raw)
        try message.append(body)
        return message
    }

    deinit { dbus_message_unref(raw) }

    /// Builds a method call.
    ///
    /// - Parameter destination: The bus name to call, unique or well-known.
    /// - Throws: `InvalidArgs` if a name or a value violates a rule of D-Bus.
    public static func methodCall(
        to destination: String, path: ObjectPath, interface: String, member: String, _ body: [DBusValue] = []
    ) throws(DBusError) -> DBusMessage {
        guard DBusName.isBus(destination) else { throw invalid("bus name", destination) }
        try check(interface: interface, member: member)
        // The compiler's own conversion would allocate an array for each text.
        let call = destination.withCString { destination in
            path.text.withCString { path in
                interface.withCString { interface in
                    member.withCString { dbus_message_new_method_call(destination, path, interface, $0) }
                }
            }
        }
        return try adopt(call, body)
    }

    /// Builds a signal.
    ///
    /// - Parameter destination: The only receiver; nil broadcasts the signal.
    /// - Throws: `InvalidArgs` if a name or a value violates a rule of D-Bus.
    public static func signal(
        path: ObjectPath, interface: String, member: String, to destination: String? = nil, _ body: [DBusValue] = []
    ) throws(DBusError) -> DBusMessage {
        try check(interface: interface, member: member)
        if let destination, !DBusName.isBus(destination) { throw invalid("bus name", destination) }
        let message = try adopt(dbus_message_new_signal(path.text, interface, member), body)
        if let destination {
            guard dbus_message_set_destination(message.raw, destination) != 0 else { throw .outOfMemory }
        }
        return message
    }

    /// Builds the reply to this call.
    ///
    /// - Throws: `InvalidArgs` if a value violates a rule of D-Bus.
    public func methodReturn(_ body: [DBusValue] = []) throws(DBusError) -> DBusMessage {
        try Self.adopt(dbus_message_new_method_return(raw), body)
    }

    /// Builds the error reply to this call.
    ///
    /// - Throws: `InvalidArgs` if the name or the text violates a rule of D-Bus.
    public func errorReply(_ error: DBusError) throws(DBusError) -> DBusMessage {
        guard DBusName.isInterface(error.name) else { throw Self.invalid("error name", error.name) }
        try DBusValue.string(error.message).validate()
        return try Self.adopt(dbus_message_new_error(raw, error.name, error.message))
    }

    /// Appends arguments to the body.
    ///
    /// - Throws: `InvalidArgs` if a value violates a rule of D-Bus, before anything is appended.
    public func append(_ values: [DBusValue]) throws(DBusError) {
        guard !values.isEmpty else { return }
        var length = 0
        for value in values { length += try value.validate() }
        guard length <= DBusLimits.messageLength else {
            throw DBusError(
                name: DBusError.Name.invalidArguments, message: "message longer than \(DBusLimits.messageLength) bytes")
        }
        var writer = DBusWriter(self)
        for value in values { try writer.append(value) }
    }

    /// Appends an `ay` to the body, with one copy.
    ///
    /// - Throws: `InvalidArgs` if the array is too long, before anything is appended.
    package func append(_ bytes: Span<UInt8>) throws(DBusError) {
        _ = try DBusValue.checkedArray(bytes.count)
        var writer = DBusWriter(self)
        try writer.append(bytes)
    }

    private static func check(interface: String, member: String) throws(DBusError) {
        try LibDBus.load()
        guard DBusName.isInterface(interface) else { throw invalid("interface name", interface) }
        guard DBusName.isMember(member) else { throw invalid("member name", member) }
    }

    private static func invalid(_ what: String, _ text: String) -> DBusError {
        DBusError(name: DBusError.Name.invalidArguments, message: "not a valid \(what): \(text)")
    }
}

// MARK: - Header fields

extension DBusMessage {
    /// `DBUS_MESSAGE_TYPE_…`; types of a later protocol must be ignored.
    var type: CInt { dbus_message_get_type(raw) }

    /// The object; `nil` in replies.
    public var path: ObjectPath? {
        dbus_message_get_path(raw).map { ObjectPath(validated: String(cString: $0)) }
    }

    /// The interface; `nil` in replies, and possibly in calls.
    public var interface: String? { dbus_message_get_interface(raw).map { String(cString: $0) } }

    /// The method's or the signal's name; `nil` in replies.
    public var member: String? { dbus_message_get_member(raw).map { String(cString: $0) } }

    /// The sender's unique name, which the bus guarantees.
    public var sender: String? { dbus_message_get_sender(raw).map { String(cString: $0) } }

    /// The body's signature.
    public var signature: String { dbus_message_get_signature(raw).map { String(cString: $0) } ?? "" }

    /// Whether a caller waits for a reply.
    public var expectsReply: Bool { dbus_message_get_no_reply(raw) == 0 }

    /// Marks the message as a call that expects no reply.
    public func suppressReply() { dbus_message_set_no_reply(raw, 1) }

    /// The error of an error message; `nil` for other messages.
    public var error: DBusError? {
        guard type == DBUS_MESSAGE_TYPE_ERROR, let name = dbus_message_get_error_name(raw) else { return nil }
        var body = DBusReader(self)
        let text = body.stringOrPathIfPresent().flatMap { $0.isPath ? nil : $0.text }
        return DBusError(name: String(cString: name), message: text ?? "")
    }

    /// Whether this is the given signal.
    ///
    /// Creates no strings.
    public func isSignal(_ interface: StaticString, _ member: StaticString) -> Bool {
        type == DBUS_MESSAGE_TYPE_SIGNAL && has(interface: interface, member: member)
    }

    /// Whether the interface and the member are the given ones.
    ///
    /// Creates no strings.
    public func has(interface: StaticString, member: StaticString) -> Bool {
        Self.equal(dbus_message_get_member(raw), member) && Self.equal(dbus_message_get_interface(raw), interface)
    }

    /// Whether the sender of the message is this name, according to the bus.
    public func isSent(by name: String) -> Bool {
        Self.equal(dbus_message_get_sender(raw), name)
    }

    /// Creates no array, which Swift's conversion of an argument to a C string would do.
    static func equal(_ text: UnsafePointer<CChar>?, _ expected: String) -> Bool {
        guard let text else { return false }
        return expected.withCString { strcmp(text, $0) == 0 }
    }

    private static func equal(_ text: UnsafePointer<CChar>?, _ literal: StaticString) -> Bool {
        guard let text else { return false }
        // A StaticString ends with a zero byte.
        return literal.hasPointerRepresentation
            && strcmp(text, UnsafeRawPointer(literal.utf8Start).assumingMemoryBound(to: CChar.self)) == 0
    }
}
#endif
