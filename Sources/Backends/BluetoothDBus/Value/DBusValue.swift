#if os(Linux)
/// A D-Bus value with its type; a plain value, except that a file descriptor is a reference to its owner.
///
/// Source: D-Bus Specification, "Type System".
public enum DBusValue: Hashable, Sendable {
    /// `y`.
    case byte(UInt8)
    /// `b`.
    case boolean(Bool)
    /// `n`.
    case int16(Int16)
    /// `q`.
    case uint16(UInt16)
    /// `i`.
    case int32(Int32)
    /// `u`.
    case uint32(UInt32)
    /// `x`.
    case int64(Int64)
    /// `t`.
    case uint64(UInt64)
    /// `d`.
    case double(Double)
    /// `s`; must not contain a zero byte.
    case string(String)
    /// `o`.
    case objectPath(ObjectPath)
    /// `g`.
    case signature(DBusSignature)
    /// `h`.
    case fileDescriptor(DBusFileDescriptor)
    /// `ay`, the only form in which byte arrays are read and written.
    case bytes([UInt8])
    /// An array of any type except bytes and dictionary entries; every element is of the given type.
    case array(DBusType, [DBusValue])
    /// `a{…}`.
    case dictionary(DBusDictionary)
    /// `(…)`; at least one member.
    case structure([DBusValue])
    /// `v`.
    indirect case variant(DBusValue)

    /// The value's type.
    public var type: DBusType {
        switch self {
        case .byte: .byte
        case .boolean: .boolean
        case .int16: .int16
        case .uint16: .uint16
        case .int32: .int32
        case .uint32: .uint32
        case .int64: .int64
        case .uint64: .uint64
        case .double: .double
        case .string: .string
        case .objectPath: .objectPath
        case .signature: .signature
        case .fileDescriptor: .fileDescriptor
        case .bytes: .array(.byte)
        case .array(let element, _): .array(element)
        case .dictionary(let dictionary): .dictionary(key: dictionary.keyType, value: dictionary.valueType)
        case .structure(let members): .structure(members.map(\.type))
        case .variant: .variant
        }
    }

    /// An array of strings, `as`.
    public static func strings(_ values: [String]) -> DBusValue {
        .array(.string, values.map(DBusValue.string))
    }

    /// An array of object paths, `ao`.
    public static func objectPaths(_ values: [ObjectPath]) -> DBusValue {
        .array(.objectPath, values.map(DBusValue.objectPath))
    }

    /// A dictionary `a{sv}`, in the order of the keys; each value is wrapped in a variant.
    public static func properties(_ values: [String: DBusValue]) -> DBusValue {
        sorted(.string, .variant, values, key: DBusValue.string) { .variant($0) }
    }

    /// The interfaces of an object with their properties: an `a{sa{sv}}`, in the order of the names.
    public static func interfaces(_ values: [String: [String: DBusValue]]) -> DBusValue {
        sorted(.string, .dictionary(key: .string, value: .variant), values, key: DBusValue.string, value: properties)
    }

    /// The result of `GetManagedObjects`: an `a{oa{sa{sv}}}`, in the order of the paths.
    public static func managedObjects(_ values: [ObjectPath: [String: [String: DBusValue]]]) -> DBusValue {
        sorted(
            .objectPath, .dictionary(key: .string, value: .dictionary(key: .string, value: .variant)), values,
            key: DBusValue.objectPath, value: interfaces)
    }

    /// A dictionary of byte arrays in variants, such as an `a{qv}`, in the order of the keys.
    package static func byteArrays<Key: Comparable>(
        _ keyType: DBusType, _ values: [Key: [UInt8]], key: (Key) -> DBusValue
    ) -> DBusValue {
        sorted(keyType, .variant, values, key: key) { .variant(.bytes($0)) }
    }

    private static func sorted<Key: Comparable, Value>(
        _ keyType: DBusType, _ valueType: DBusType, _ values: [Key: Value], key: (Key) -> DBusValue,
        value: (Value) -> DBusValue
    ) -> DBusValue {
        .dictionary(
            DBusDictionary(
                keyType: keyType, valueType: valueType,
                entries: values.sorted { $0.key < $1.key }.map {
                    DBusDictionary.Entry(key: key($0.key), value: value($0.value))
                }))
    }
}

/// The content of a D-Bus dictionary, in the order of the message.
///
/// Keys are not checked to be unique.
public struct DBusDictionary: Hashable, Sendable {
    /// One entry.
    public struct Entry: Hashable, Sendable {
        /// The key, of a basic type.
        public var key: DBusValue
        /// The value.
        public var value: DBusValue

        /// Creates an entry.
        public init(key: DBusValue, value: DBusValue) {
            self.key = key
            self.value = value
        }
    }

    /// The type of every key.
    public var keyType: DBusType
    /// The type of every value.
    public var valueType: DBusType
    /// The entries.
    public var entries: [Entry]

    /// Whether this is an `a{sv}`.
    var isProperties: Bool { keyType == .string && valueType == .variant }

    /// Creates a dictionary; its types are checked when it is appended to a message.
    public init(keyType: DBusType, valueType: DBusType, entries: [Entry]) {
        self.keyType = keyType
        self.valueType = valueType
        self.entries = entries
    }
}
#endif
