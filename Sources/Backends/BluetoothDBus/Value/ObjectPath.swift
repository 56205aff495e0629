#if os(Linux)
/// The path of a D-Bus object, such as `/org/bluez/hci0`.
///
/// Source: D-Bus Specification, "Valid Object Paths".
public struct ObjectPath: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The path's text.
    public let text: String

    /// - Returns: `nil` unless the text is `/`, or elements of `[A-Za-z0-9_]+`, each after a slash.
    public init?(_ text: String) {
        guard Self.isValid(text.utf8) else { return nil }
        self.text = text
    }

    /// Creates a path from text that libdbus has validated.
    init(validated text: String) {
        self.text = text
    }

    /// The path of a literal; traps if the literal is not a path.
    package static func constant(_ text: String) -> ObjectPath {
        guard let path = ObjectPath(text) else { preconditionFailure("not an object path: \(text)") }
        return path
    }

    /// `/`.
    public static let root = ObjectPath(validated: "/")

    /// The same as ``text``.
    public var description: String { text }

    /// The last element; empty for the root.
    public var lastElement: Substring {
        text[(lastSlash.map(text.utf8.index(after:)) ?? text.startIndex)...]
    }

    /// The path without its last element, or `nil` for the root.
    public var parent: ObjectPath? {
        guard text != "/", let slash = lastSlash else { return nil }
        return slash == text.startIndex ? .root : ObjectPath(validated: String(text[..<slash]))
    }

    /// Returns this path with one more element, which must consist of `[A-Za-z0-9_]`.
    package func appending(_ element: String) -> ObjectPath {
        .constant((text == "/" ? "" : text) + "/" + element)
    }

    /// The path of the first `count` elements, at least one; the whole path if it has no more.
    public func prefix(_ count: Int) -> ObjectPath {
        var slashes = 0
        let end = text.utf8.firstIndex { byte in
            if byte == UInt8(ascii: "/") { slashes += 1 }
            return slashes > count
        }
        return end.map { ObjectPath(validated: String(text[..<$0])) } ?? self
    }

    /// Searches the bytes, because a path contains only ASCII characters.
    private var lastSlash: String.Index? { text.utf8.lastIndex(of: UInt8(ascii: "/")) }

    /// Whether this path is below `ancestor`, and not equal to it.
    ///
    /// `/org/bluez/hci10` is not below `/org/bluez/hci1`.
    public func isBelow(_ ancestor: ObjectPath) -> Bool {
        if ancestor.text == "/" { return text != "/" }
        let own = text.utf8
        let length = ancestor.text.utf8.count
        guard own.count > length, text.hasPrefix(ancestor.text) else { return false }
        return own[own.index(own.startIndex, offsetBy: length)] == UInt8(ascii: "/")
    }

    /// Orders paths by their text, so that an ancestor precedes its descendants.
    public static func < (left: ObjectPath, right: ObjectPath) -> Bool {
        left.text < right.text
    }

    private static func isValid(_ text: String.UTF8View) -> Bool {
        guard text.first == UInt8(ascii: "/"), text.count > 1 else { return text.elementsEqual("/".utf8) }
        return text.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).allSatisfy {
            !$0.isEmpty && $0.allSatisfy(DBusName.isWordCharacter)
        }
    }
}
#endif
