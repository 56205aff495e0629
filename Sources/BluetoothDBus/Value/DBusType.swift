#if os(Linux)
/// A single complete D-Bus type, such as `ay` or `a{sv}`.
///
/// Source: D-Bus Specification, "Type System".
public enum DBusType: Hashable, Sendable {
    /// `y`, an unsigned 8-bit integer.
    case byte
    /// `b`.
    case boolean
    /// `n`.
    case int16
    /// `q`.
    case uint16
    /// `i`.
    case int32
    /// `u`.
    case uint32
    /// `x`.
    case int64
    /// `t`.
    case uint64
    /// `d`, IEEE 754.
    case double
    /// `s`, UTF-8 without a zero byte.
    case string
    /// `o`.
    case objectPath
    /// `g`.
    case signature
    /// `h`.
    case fileDescriptor
    /// `v`.
    case variant
    /// `a` and the element's type.
    indirect case array(DBusType)
    /// `a{` key value `}`; the key is a basic type.
    indirect case dictionary(key: DBusType, value: DBusType)
    /// `(` members `)`; at least one member.
    case structure([DBusType])

    /// The type in the notation of the specification, such as `a{sv}`.
    public var text: String {
        switch self {
        case .array(let element): "a" + element.text
        case .dictionary(let key, let value): "a{" + key.text + value.text + "}"
        case .structure(let members): "(" + members.map(\.text).joined() + ")"
        default: String(UnicodeScalar(code))
        }
    }

    /// Whether the type may be a dictionary's key: any type except containers and variants.
    public var isBasic: Bool {
        switch self {
        case .variant, .array, .dictionary, .structure: false
        default: true
        }
    }

    /// Whether the type meets the rules and limits of a signature.
    ///
    /// Constant-time for the common types.
    var isValid: Bool {
        switch self {
        case .array(let element) where element.isBasic || element == .variant: true
        case .dictionary(let key, let value) where key.isBasic && (value.isBasic || value == .variant): true
        case .array, .dictionary, .structure: DBusSignature([self]) != nil
        default: true
        }
    }

    /// The type's first character in a signature.
    var code: UInt8 {
        switch self {
        case .byte: UInt8(ascii: "y")
        case .boolean: UInt8(ascii: "b")
        case .int16: UInt8(ascii: "n")
        case .uint16: UInt8(ascii: "q")
        case .int32: UInt8(ascii: "i")
        case .uint32: UInt8(ascii: "u")
        case .int64: UInt8(ascii: "x")
        case .uint64: UInt8(ascii: "t")
        case .double: UInt8(ascii: "d")
        case .string: UInt8(ascii: "s")
        case .objectPath: UInt8(ascii: "o")
        case .signature: UInt8(ascii: "g")
        case .fileDescriptor: UInt8(ascii: "h")
        case .variant: UInt8(ascii: "v")
        case .array, .dictionary: UInt8(ascii: "a")
        case .structure: UInt8(ascii: "(")
        }
    }

    /// The type of one character, or `nil` if a container begins or the character is unknown.
    init?(code: UInt8) {
        switch code {
        case UInt8(ascii: "y"): self = .byte
        case UInt8(ascii: "b"): self = .boolean
        case UInt8(ascii: "n"): self = .int16
        case UInt8(ascii: "q"): self = .uint16
        case UInt8(ascii: "i"): self = .int32
        case UInt8(ascii: "u"): self = .uint32
        case UInt8(ascii: "x"): self = .int64
        case UInt8(ascii: "t"): self = .uint64
        case UInt8(ascii: "d"): self = .double
        case UInt8(ascii: "s"): self = .string
        case UInt8(ascii: "o"): self = .objectPath
        case UInt8(ascii: "g"): self = .signature
        case UInt8(ascii: "h"): self = .fileDescriptor
        case UInt8(ascii: "v"): self = .variant
        default: return nil
        }
    }
}
#endif
