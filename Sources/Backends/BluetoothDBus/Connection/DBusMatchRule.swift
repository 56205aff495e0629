#if os(Linux)
import Glibc

/// The signals that a subscription receives.
///
/// Source: D-Bus Specification, "Match Rules".
public struct DBusMatchRule: Hashable, Sendable {
    /// The sender's name.
    ///
    /// Only the bus resolves a well-known name. To exclude signals of other senders that another rule lets through,
    /// compare the owner by ``DBusMessage/isSent(by:)``.
    public var sender: String?
    /// The object or one of its ancestors.
    public var pathNamespace: ObjectPath?
    /// The signal's interface.
    public var interface: String?
    /// The signal's name.
    public var member: String?
    /// The first argument, a string.
    public var argument0: String?
    /// The first argument, a string or path, as `arg0path` compares it.
    public var argument0Path: String?

    /// Creates a rule; an omitted field matches everything.
    public init(
        sender: String? = nil, pathNamespace: ObjectPath? = nil,
        interface: String? = nil, member: String? = nil, argument0: String? = nil, argument0Path: String? = nil
    ) {
        self.sender = sender
        self.pathNamespace = pathNamespace
        self.interface = interface
        self.member = member
        self.argument0 = argument0
        self.argument0Path = argument0Path
    }

    /// The rule in the notation of the bus's `AddMatch`.
    public var text: String {
        let parts: [(String, String?)] = [
            ("sender", sender), ("path_namespace", pathNamespace?.text),
            ("interface", interface), ("member", member), ("arg0", argument0), ("arg0path", argument0Path),
        ]
        return parts.reduce(into: "type='signal'") { text, part in
            guard let value = part.1 else { return }
            text += ",\(part.0)='\(Self.escaped(value))'"
        }
    }

    /// Quotes a value; an apostrophe cannot be inside apostrophes.
    private static func escaped(_ value: String) -> String {
        value.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''")
    }
}

extension DBusMatchRule {
    /// Whether a received signal matches.
    func matches(_ message: DBusMessage) -> Bool {
        if let member, !DBusMessage.equal(dbus_message_get_member(message.raw), member) { return false }
        if let interface, !DBusMessage.equal(dbus_message_get_interface(message.raw), interface) { return false }
        if let sender, DBusName.isUnique(sender) || sender == BusDriver.name, !message.isSent(by: sender) {
            return false
        }
        if let pathNamespace, !Self.isWithin(dbus_message_get_path(message.raw), pathNamespace) { return false }
        guard argument0 != nil || argument0Path != nil else { return true }
        return matchesArgument0(of: message)
    }

    private func matchesArgument0(of message: DBusMessage) -> Bool {
        var reader = DBusReader(message)
        guard let first = reader.stringOrPathIfPresent() else { return false }
        if let argument0, first.isPath || first.text != argument0 { return false }
        guard let pattern = argument0Path else { return true }
        let text = first.text
        return text == pattern
            || (pattern.utf8.last == UInt8(ascii: "/") && text.hasPrefix(pattern))
            || (text.utf8.last == UInt8(ascii: "/") && pattern.hasPrefix(text))
    }

    /// Creates no string and no array, because it is called for every signal.
    private static func isWithin(_ text: UnsafePointer<CChar>?, _ namespace: ObjectPath) -> Bool {
        guard let text else { return false }
        guard namespace != .root else { return true }
        let count = namespace.text.utf8.count
        guard namespace.text.withCString({ strncmp(text, $0, count) }) == 0 else { return false }
        return text[count] == 0 || text[count] == CChar(UInt8(ascii: "/"))
    }
}
#endif
