#if os(Linux)
/// A single complete D-Bus type, such as `ay` or `a{sv}`.
///
/// Source: D-Bus Specification, "Type System".
public struct DBusType: Hashable, Sendable {
    /// The type in the notation of the specification.
    public let text: String

    /// Creates a type from text that libdbus or ``DBusSignature`` has validated.
    init(validated text: String) { self.text = text }

    /// `y`, an unsigned 8-bit integer.
    public static let byte = DBusType(validated: "y")
    /// `b`.
    public static let boolean = DBusType(validated: "b")
    /// `n`.
    public static let int16 = DBusType(validated: "n")
    /// `q`.
    public static let uint16 = DBusType(validated: "q")
    /// `i`.
    public static let int32 = DBusType(validated: "i")
    /// `u`.
    public static let uint32 = DBusType(validated: "u")
    /// `x`.
    public static let int64 = DBusType(validated: "x")
    /// `t`.
    public static let uint64 = DBusType(validated: "t")
    /// `d`, IEEE 754.
    public static let double = DBusType(validated: "d")
    /// `s`, UTF-8 without a zero byte.
    public static let string = DBusType(validated: "s")
    /// `o`.
    public static let objectPath = DBusType(validated: "o")
    /// `g`.
    public static let signature = DBusType(validated: "g")
    /// `h`.
    public static let fileDescriptor = DBusType(validated: "h")
    /// `v`.
    public static let variant = DBusType(validated: "v")

    /// `a` and the element's type.
    public static func array(_ element: DBusType) -> DBusType { DBusType(validated: "a" + element.text) }

    /// `a{` key value `}`; the key is a basic type.
    public static func dictionary(key: DBusType, value: DBusType) -> DBusType {
        DBusType(validated: "a{" + key.text + value.text + "}")
    }

    /// `(` members `)`; at least one member.
    public static func structure(_ members: [DBusType]) -> DBusType {
        DBusType(validated: "(" + members.map(\.text).joined() + ")")
    }

    /// The type of the elements of an array; not of a dictionary.
    package var element: DBusType { DBusType(validated: String(text.dropFirst())) }

    /// The types of the key and the value of a dictionary; nil for other types.
    package var entry: (key: DBusType, value: DBusType)? {
        guard text.hasPrefix("a{") else { return nil }
        let types = text.dropFirst(2).dropLast()
        return (DBusType(validated: String(types.prefix(1))), DBusType(validated: String(types.dropFirst())))
    }

    /// Whether the type may be a dictionary's key: any type except containers and variants.
    var isBasic: Bool { text.utf8.count == 1 && self != .variant }

    /// Whether the type meets the rules and limits of a signature, which nested types may violate.
    var isValid: Bool {
        // A simple type, or an array of one.
        if text.utf8.count <= 2, text.utf8.last != UInt8(ascii: ")") { return true }
        var parser = SignatureParser(rest: text.utf8[...])
        return text.utf8.count <= DBusLimits.signatureLength && parser.skipType() && parser.rest.isEmpty
    }
}

/// A sequence of complete types, such as the body `sa{sv}as` of a `PropertiesChanged` signal.
public struct DBusSignature: Hashable, Sendable {
    /// The complete types, in order.
    public let types: [DBusType]
    /// The signature in the notation of the specification.
    public let text: String

    /// Parses and validates a signature.
    ///
    /// - Returns: `nil` unless the text is a valid signature within ``DBusLimits``.
    public init?(_ text: String) {
        guard text.utf8.count <= DBusLimits.signatureLength else { return nil }
        var parser = SignatureParser(rest: text.utf8[...])
        var types: [DBusType] = []
        while let start = parser.rest.indices.first {
            guard parser.skipType() else { return nil }
            types.append(DBusType(validated: String(text[start..<parser.rest.startIndex])))
        }
        self.types = types
        self.text = text
    }
}

/// A recursive-descent parser of a signature; the limits bound its depth.
private struct SignatureParser {
    private static let simpleTypes = "ybnqiuxtdsoghv".utf8

    var rest: Substring.UTF8View

    /// Skips one complete type at a nesting depth of `arrays` and `structures`.
    ///
    /// - Returns: Whether the type is valid.
    mutating func skipType(arrays: Int = 0, structures: Int = 0) -> Bool {
        switch rest.popFirst() {
        case UInt8(ascii: "a"): arrays < DBusLimits.arrayDepth && skipElement(arrays + 1, structures)
        case UInt8(ascii: "("): structures < DBusLimits.structureDepth && skipMembers(arrays, structures + 1)
        case let code?: Self.simpleTypes.contains(code)
        case nil: false
        }
    }

    private mutating func skip(_ code: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: code) else { return false }
        rest.removeFirst()
        return true
    }

    private mutating func skipElement(_ arrays: Int, _ structures: Int) -> Bool {
        guard skip("{") else { return skipType(arrays: arrays, structures: structures) }
        guard structures < DBusLimits.structureDepth, let key = rest.popFirst(), key != UInt8(ascii: "v") else {
            return false
        }
        return Self.simpleTypes.contains(key) && skipType(arrays: arrays, structures: structures + 1) && skip("}")
    }

    private mutating func skipMembers(_ arrays: Int, _ structures: Int) -> Bool {
        repeat {
            guard skipType(arrays: arrays, structures: structures) else { return false }
        } while !skip(")")
        return true
    }
}
#endif
