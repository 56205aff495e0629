#if os(Linux)
/// Access by expected type: `nil` if the value is of another type, so that unexpected input is never trusted.
extension DBusValue {
    /// The content of a `b`.
    public var boolValue: Bool? {
        if case .boolean(let value) = self { value } else { nil }
    }

    /// The content of a `q`.
    public var uint16Value: UInt16? {
        if case .uint16(let value) = self { value } else { nil }
    }

    /// The content of a `u`.
    public var uint32Value: UInt32? {
        if case .uint32(let value) = self { value } else { nil }
    }

    /// The content of an `s`.
    public var stringValue: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The content of an `o`.
    public var pathValue: ObjectPath? {
        if case .objectPath(let value) = self { value } else { nil }
    }

    /// The content of an `ay`.
    public var bytesValue: [UInt8]? {
        if case .bytes(let value) = self { value } else { nil }
    }

    /// The content of an `h`.
    public var descriptorValue: DBusFileDescriptor? {
        if case .fileDescriptor(let value) = self { value } else { nil }
    }

    /// The content of an `as`.
    public var stringsValue: [String]? {
        guard case .array(.string, let values) = self else { return nil }
        return values.compactMap(\.stringValue)
    }

    /// The content of an `a{sv}`, without the variants; the last of equal keys is used.
    public var propertiesValue: [String: DBusValue]? {
        guard case .dictionary(let dictionary) = self, dictionary.keyType == .string, dictionary.valueType == .variant
        else { return nil }
        var result: [String: DBusValue] = [:]
        result.reserveCapacity(dictionary.entries.count)
        for entry in dictionary.entries {
            guard case .string(let key) = entry.key, case .variant(let value) = entry.value else { return nil }
            result[key] = value
        }
        return result
    }
}
#endif
