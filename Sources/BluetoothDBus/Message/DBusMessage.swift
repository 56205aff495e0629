#if os(Linux)
import Glibc

/// Owns one reference to a libdbus message.
///
/// A message belongs to one thread at a time: the caller's while it is built, the connection's queue once received.
public final class DBusMessage {
    /// What a message is for.
    public enum Kind: Sendable {
        /// Asks for a reply.
        case methodCall
        /// Answers a call.
        case methodReturn
        /// Refuses a call.
        case error
        /// Is broadcast.
        case signal
    }

    let raw: OpaquePointer

    /// Takes over the caller's reference.
    init(adopting raw: OpaquePointer) { self.raw = raw }

    /// Adds a reference of its own.
    init(retaining raw: OpaquePointer) {
        _ = dbus_message_ref(raw)
        self.raw = raw
    }

    deinit { dbus_message_unref(raw) }

    /// Builds a method call.
    ///
    /// - Parameters:
    ///   - destination: The bus name that is asked, unique or well-known.
    ///   - path: The object.
    ///   - interface: The method's interface.
    ///   - member: The method.
    ///   - body: The arguments.
    /// - Throws: `InvalidArgs` where a name or a value breaks a rule of D-Bus.
    public static func methodCall(
        to destination: String, path: ObjectPath, interface: String, member: String, _ body: [DBusValue] = []
    ) throws(DBusError) -> DBusMessage {
        guard DBusName.isBus(destination) else { throw invalid("bus name", destination) }
        try check(interface: interface, member: member)
        // Not by the compiler's own conversion, which allocates an array for each text.
        let made = destination.withCString { destination in
            path.text.withCString { path in
                interface.withCString { interface in
                    member.withCString { dbus_message_new_method_call(destination, path, interface, $0) }
                }
            }
        }
        guard let raw = made else { throw .outOfMemory }
        let message = DBusMessage(adopting: raw)
        try message.append(body)
        return message
    }

    /// Builds a signal.
    ///
    /// - Parameter destination: Who alone gets it; nil broadcasts it.
    /// - Throws: `InvalidArgs` where a name or a value breaks a rule of D-Bus.
    public static func signal(
        path: ObjectPath, interface: String, member: String, to destination: String? = nil, _ body: [DBusValue] = []
    ) throws(DBusError) -> DBusMessage {
        try check(interface: interface, member: member)
        if let destination, !DBusName.isBus(destination) { throw invalid("bus name", destination) }
        guard let raw = dbus_message_new_signal(path.text, interface, member) else { throw .outOfMemory }
        let message = DBusMessage(adopting: raw)
        if let destination {
            guard dbus_message_set_destination(raw, destination) != 0 else { throw .outOfMemory }
        }
        try message.append(body)
        return message
    }

    /// Builds the answer to this call.
    ///
    /// - Throws: `InvalidArgs` where a value breaks a rule of D-Bus.
    public func methodReturn(_ body: [DBusValue] = []) throws(DBusError) -> DBusMessage {
        guard let reply = dbus_message_new_method_return(raw) else { throw .outOfMemory }
        let message = DBusMessage(adopting: reply)
        try message.append(body)
        return message
    }

    /// Builds the refusal of this call.
    ///
    /// - Throws: `InvalidArgs` where the name or the text breaks a rule of D-Bus.
    public func errorReply(_ error: DBusError) throws(DBusError) -> DBusMessage {
        guard DBusName.isInterface(error.name) else { throw Self.invalid("error name", error.name) }
        try DBusValue.string(error.message).validate()
        guard let reply = dbus_message_new_error(raw, error.name, error.message) else { throw .outOfMemory }
        return DBusMessage(adopting: reply)
    }

    /// Adds arguments at the end of the body.
    ///
    /// - Throws: `InvalidArgs` where a value breaks a rule of D-Bus, before anything is added.
    public func append(_ values: [DBusValue]) throws(DBusError) {
        guard !values.isEmpty else { return }
        var length = 0
        for value in values { length += try value.validate() }
        guard length <= DBusLimits.messageLength else {
            throw DBusError(
                name: DBusError.Name.invalidArguments, message: "message longer than \(DBusLimits.messageLength) bytes")
        }
        let writer = DBusWriter(message: self)
        for value in values { try writer.append(value) }
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
    /// What the message is for; `nil` for types of a later protocol, which are to be ignored.
    public var kind: Kind? {
        switch dbus_message_get_type(raw) {
        case DBUS_MESSAGE_TYPE_METHOD_CALL: .methodCall
        case DBUS_MESSAGE_TYPE_METHOD_RETURN: .methodReturn
        case DBUS_MESSAGE_TYPE_ERROR: .error
        case DBUS_MESSAGE_TYPE_SIGNAL: .signal
        default: nil
        }
    }

    /// The object; `nil` in replies.
    public var path: ObjectPath? {
        dbus_message_get_path(raw).map { ObjectPath(validated: String(cString: $0)) }
    }

    /// The interface; `nil` in replies, and may be in calls.
    public var interface: String? { dbus_message_get_interface(raw).map { String(cString: $0) } }

    /// The method's or the signal's name; `nil` in replies.
    public var member: String? { dbus_message_get_member(raw).map { String(cString: $0) } }

    /// The sender's unique name, as the bus vouches for it.
    public var sender: String? { dbus_message_get_sender(raw).map { String(cString: $0) } }

    /// The body's signature.
    public var signature: String { dbus_message_get_signature(raw).map { String(cString: $0) } ?? "" }

    /// Whether a caller waits for a reply.
    public var expectsReply: Bool { dbus_message_get_no_reply(raw) == 0 }

    /// Numbers a message that goes out by another way than a connection.
    func assignSerial(_ serial: UInt32) { dbus_message_set_serial(raw, serial) }

    /// Tells the callee that nobody waits for a reply.
    public func suppressReply() { dbus_message_set_no_reply(raw, 1) }

    /// The error that an error message carries; `nil` for all others.
    public var error: DBusError? {
        guard kind == .error, let name = dbus_message_get_error_name(raw) else { return nil }
        var body = DBusReader(self)
        return DBusError(name: String(cString: name), message: body.stringIfPresent() ?? "")
    }

    /// Whether this is a certain signal.
    ///
    /// Makes no strings.
    public func isSignal(_ interface: StaticString, _ member: StaticString) -> Bool {
        dbus_message_get_type(raw) == DBUS_MESSAGE_TYPE_SIGNAL && has(interface: interface, member: member)
    }

    /// Whether interface and member are these.
    ///
    /// Makes no strings.
    public func has(interface: StaticString, member: StaticString) -> Bool {
        Self.equal(dbus_message_get_member(raw), member) && Self.equal(dbus_message_get_interface(raw), interface)
    }

    /// Whether the bus says that the message comes from this name.
    public func isSent(by name: String) -> Bool {
        guard let sender = dbus_message_get_sender(raw) else { return false }
        return strcmp(sender, name) == 0
    }

    private static func equal(_ text: UnsafePointer<CChar>?, _ literal: StaticString) -> Bool {
        guard let text else { return false }
        // A StaticString ends with a zero byte.
        return literal.hasPointerRepresentation
            && strcmp(text, UnsafeRawPointer(literal.utf8Start).assumingMemoryBound(to: CChar.self)) == 0
    }
}
#endif
