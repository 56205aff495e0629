#if os(Linux)
/// A sequence of complete types, such as the body `sa{sv}as` of a `PropertiesChanged` signal.
public struct DBusSignature: Hashable, Sendable, CustomStringConvertible {
    /// The complete types, in order.
    public let types: [DBusType]
    /// The signature in the notation of the specification.
    public let text: String

    /// Parses and validates a signature.
    ///
    /// - Returns: `nil` unless the text is a valid signature within ``DBusLimits``.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count <= DBusLimits.signatureLength else { return nil }
        var parser = Parser(bytes: bytes)
        var types: [DBusType] = []
        while parser.position < bytes.count {
            guard let type = parser.completeType(arrays: 0, structures: 0) else { return nil }
            types.append(type)
        }
        self.types = types
        self.text = text
    }

    /// The signature of these types.
    ///
    /// - Returns: `nil` unless the result is within ``DBusLimits``.
    public init?(_ types: [DBusType]) {
        self.init(types.map(\.text).joined())
    }

    /// The same as ``text``.
    public var description: String { text }
}

/// A recursive-descent parser of a signature's bytes; the limits bound its depth.
private struct Parser {
    let bytes: [UInt8]
    var position = 0

    mutating func completeType(arrays: Int, structures: Int) -> DBusType? {
        guard let code = next() else { return nil }
        switch code {
        case UInt8(ascii: "a"): return array(arrays: arrays + 1, structures: structures)
        case UInt8(ascii: "("): return structure(arrays: arrays, structures: structures + 1)
        default: return DBusType(code: code)
        }
    }

    private mutating func next() -> UInt8? {
        guard position < bytes.count else { return nil }
        defer { position += 1 }
        return bytes[position]
    }

    private mutating func accept(_ code: UInt8) -> Bool {
        guard position < bytes.count, bytes[position] == code else { return false }
        position += 1
        return true
    }

    private mutating func array(arrays: Int, structures: Int) -> DBusType? {
        guard arrays <= DBusLimits.arrayDepth else { return nil }
        guard accept(UInt8(ascii: "{")) else {
            return completeType(arrays: arrays, structures: structures).map(DBusType.array)
        }
        guard structures + 1 <= DBusLimits.structureDepth,
            let key = completeType(arrays: arrays, structures: structures + 1), key.isBasic,
            let value = completeType(arrays: arrays, structures: structures + 1),
            accept(UInt8(ascii: "}"))
        else { return nil }
        return .dictionary(key: key, value: value)
    }

    private mutating func structure(arrays: Int, structures: Int) -> DBusType? {
        guard structures <= DBusLimits.structureDepth else { return nil }
        var members: [DBusType] = []
        while !accept(UInt8(ascii: ")")) {
            guard let member = completeType(arrays: arrays, structures: structures) else { return nil }
            members.append(member)
        }
        return members.isEmpty ? nil : .structure(members)
    }
}
#endif
