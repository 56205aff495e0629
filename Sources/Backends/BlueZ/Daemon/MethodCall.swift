#if os(Linux)
import BluetoothDBus
import FoundationEssentials

/// A method call for the current owner of `org.bluez`.
struct MethodCall: Equatable, Sendable {
    /// The content of a reply that is used.
    enum ReplyContent: Equatable, Sendable {
        case nothing
        case value
        case socket
    }

    var path: ObjectPath
    var interface: String
    var member: String
    /// An `ay` before the other arguments, which is copied once: into the message.
    var value: Data?
    var body: [DBusValue] = []
    var reply = ReplyContent.nothing
    var deadline: Duration
}

/// A reply to a method call, decoded as the call expects it.
enum MethodReply: Sendable {
    /// An `ay`.
    case value(Data)
    /// A socket, and the ATT MTU of its link.
    case socket(DBusFileDescriptor, mtu: UInt16)
    /// A reply whose content is not used, or has other types than the call expects.
    case empty
}

extension MethodCall {
    /// Builds the message.
    ///
    /// - Throws: `InvalidArgs` if a name or a value violates a rule of D-Bus.
    func message(to destination: String) throws(DBusError) -> DBusMessage {
        let message = try DBusMessage.methodCall(to: destination, path: path, interface: interface, member: member)
        if let value { try message.append(value.span) }
        try message.append(body)
        return message
    }

    /// Decodes the reply.
    ///
    /// - Throws: If it has other types than the call expects.
    func decode(_ message: DBusMessage) throws(DBusError) -> MethodReply {
        var body = DBusReader(message)
        switch reply {
        case .nothing: return .empty
        case .value: return .value(try body.data())
        case .socket: return .socket(try body.fileDescriptor(), mtu: try body.uint16())
        }
    }
}
#endif
