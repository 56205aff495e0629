#if os(Linux)
/// The limits of the D-Bus Specification, checked before a message is built.
package enum DBusLimits {
    /// The longest signature, in bytes.
    package static let signatureLength = 255
    /// The deepest nesting of arrays in one signature.
    package static let arrayDepth = 32
    /// The deepest nesting of structures and dictionary entries in one signature.
    package static let structureDepth = 32
    /// The deepest nesting of containers in one value, variants included.
    package static let totalDepth = 64
    /// The longest array, in bytes of its marshalled elements: 64 MiB.
    package static let arrayLength = 64 << 20
    /// The longest message, header included: 128 MiB.
    package static let messageLength = 128 << 20
    /// The longest bus, interface, member or error name, in bytes.
    package static let nameLength = 255
}

extension DBusValue {
    /// Checks the rules that the type system cannot express: uniform elements, text, nesting and sizes.
    ///
    /// libdbus treats a violation as a programming error and may end the process, so every value is checked before.
    ///
    /// - Throws: ``DBusError`` named `org.freedesktop.DBus.Error.InvalidArgs` with the violated rule.
    ///
    /// - Returns: The marshalled length in bytes, an upper bound that includes worst-case padding.
    @discardableResult
    public func validate() throws(DBusError) -> Int {
        guard isProperties || type.isValid else { throw Self.invalid("signature out of limits: \(type.text)") }
        return try checkedLength(depth: 0)
    }

    /// Whether this is an `a{sv}`, as in nearly all calls; creates no type.
    private var isProperties: Bool {
        if case .dictionary(let dictionary) = self { dictionary.isProperties } else { false }
    }

    private static func invalid(_ rule: String) -> DBusError {
        DBusError(name: DBusError.Name.invalidArguments, message: rule)
    }

    /// The marshalled length in bytes, an upper bound that includes worst-case padding.
    private func checkedLength(depth: Int) throws(DBusError) -> Int {
        guard depth <= DBusLimits.totalDepth else { throw Self.invalid("nested deeper than \(DBusLimits.totalDepth)") }
        switch self {
        case .byte: return 1
        case .boolean, .int16, .uint16, .int32, .uint32, .int64, .uint64, .double: return 8
        case .string(let text):
            guard !text.utf8.contains(0) else { throw Self.invalid("zero byte in a string") }
            return text.utf8.count + 8
        case .objectPath(let path): return path.text.utf8.count + 8
        case .signature(let signature): return signature.text.utf8.count + 2
        case .fileDescriptor(let descriptor):
            guard descriptor.rawValue >= 0 else { throw Self.invalid("file descriptor was taken") }
            return 8
        case .bytes(let bytes):
            return try Self.checkedArray(bytes.count) + 8
        case .array(let element, let values):
            return try checkedElements(values, of: element, depth: depth)
        case .dictionary(let dictionary):
            return try checkedEntries(of: dictionary, depth: depth)
        case .structure(let members):
            guard !members.isEmpty else { throw Self.invalid("empty structure") }
            var length = 8
            for member in members { length += try member.checkedLength(depth: depth + 1) }
            return length
        case .variant(let value):
            guard value.type.isValid else { throw Self.invalid("signature of a variant out of limits") }
            return try value.checkedLength(depth: depth + 1) + 8
        }
    }

    static func checkedArray(_ length: Int) throws(DBusError) -> Int {
        guard length <= DBusLimits.arrayLength else {
            throw invalid("array longer than \(DBusLimits.arrayLength) bytes")
        }
        return length
    }

    private func checkedElements(
        _ values: [DBusValue], of element: DBusType, depth: Int
    ) throws(DBusError) -> Int {
        guard element != .byte else { throw Self.invalid("a byte array is not of the case .bytes") }
        var length = 0
        for value in values {
            guard value.type == element else { throw Self.invalid("\(value.type.text) in array of \(element.text)") }
            length = try Self.checkedArray(length + value.checkedLength(depth: depth + 1))
        }
        return length + 8
    }

    private func checkedEntries(of dictionary: DBusDictionary, depth: Int) throws(DBusError) -> Int {
        guard dictionary.keyType.isBasic else {
            throw Self.invalid("dictionary key of type \(dictionary.keyType.text)")
        }
        var length = 0
        for entry in dictionary.entries {
            guard entry.key.type == dictionary.keyType, entry.value.type == dictionary.valueType else {
                throw Self.invalid("dictionary entry of another type")
            }
            let both = try entry.key.checkedLength(depth: depth + 2) + entry.value.checkedLength(depth: depth + 2)
            length = try Self.checkedArray(length + both + 8)
        }
        return length + 8
    }
}
#endif
