#if os(Linux)
/// Appends validated values to a message.
///
/// Fails only if no memory is left.
struct DBusWriter {
    private let message: DBusMessage

    init(message: DBusMessage) { self.message = message }

    func append(_ value: DBusValue) throws(DBusError) {
        var iterator = DBusMessageIter()
        dbus_message_iter_init_append(message.raw, &iterator)
        try Self.append(value, to: &iterator)
    }

    private static func append(_ value: DBusValue, to iterator: inout DBusMessageIter) throws(DBusError) {
        switch value {
        case .byte(let value): try basic(value, .byte, &iterator)
        case .boolean(let value): try basic(dbus_bool_t(value ? 1 : 0), .boolean, &iterator)
        case .int16(let value): try basic(value, .int16, &iterator)
        case .uint16(let value): try basic(value, .uint16, &iterator)
        case .int32(let value): try basic(value, .int32, &iterator)
        case .uint32(let value): try basic(value, .uint32, &iterator)
        case .int64(let value): try basic(value, .int64, &iterator)
        case .uint64(let value): try basic(value, .uint64, &iterator)
        case .double(let value): try basic(value, .double, &iterator)
        case .string(let value): try text(value, .string, &iterator)
        case .objectPath(let value): try text(value.text, .objectPath, &iterator)
        case .signature(let value): try text(value.text, .signature, &iterator)
        case .fileDescriptor(let value): try basic(value.rawValue, .fileDescriptor, &iterator)
        case .bytes(let value): try bytes(value, &iterator)
        case .array(let element, let values): try array(of: element.text, values, &iterator)
        case .dictionary(let dictionary): try entries(of: dictionary, &iterator)
        case .structure(let members): try container("(", nil, members, &iterator)
        case .variant(let value): try container("v", value.type.text, [value], &iterator)
        }
    }

    private static func basic<Value: BitwiseCopyable>(
        _ value: Value, _ type: DBusType, _ iterator: inout DBusMessageIter
    ) throws(DBusError) {
        let done = withUnsafePointer(to: value) { dbus_message_iter_append_basic(&iterator, CInt(type.code), $0) }
        guard done != 0 else { throw .outOfMemory }
    }

    private static func text(
        _ value: String, _ type: DBusType, _ iterator: inout DBusMessageIter
    ) throws(DBusError) {
        let done = value.withCString { pointer in
            withUnsafePointer(to: pointer) { dbus_message_iter_append_basic(&iterator, CInt(type.code), $0) }
        }
        guard done != 0 else { throw .outOfMemory }
    }

    private static func bytes(_ value: [UInt8], _ iterator: inout DBusMessageIter) throws(DBusError) {
        var inner = DBusMessageIter()
        try open("a", "y", &iterator, &inner)
        let done = value.withUnsafeBufferPointer { buffer -> dbus_bool_t in
            guard let base = buffer.baseAddress, !buffer.isEmpty else { return 1 }
            return withUnsafePointer(to: base) {
                dbus_message_iter_append_fixed_array(&inner, CInt(UInt8(ascii: "y")), $0, CInt(buffer.count))
            }
        }
        try close(&iterator, &inner, if: done != 0)
    }

    private static func array(
        of element: String, _ values: [DBusValue], _ iterator: inout DBusMessageIter
    ) throws(DBusError) {
        try container("a", element, values, &iterator)
    }

    private static func container(
        _ kind: UnicodeScalar, _ signature: String?, _ values: [DBusValue], _ iterator: inout DBusMessageIter
    ) throws(DBusError) {
        var inner = DBusMessageIter()
        try open(kind == "(" ? "r" : kind, signature, &iterator, &inner)
        for value in values {
            do throws(DBusError) {
                try append(value, to: &inner)
            } catch {
                dbus_message_iter_abandon_container(&iterator, &inner)
                throw error
            }
        }
        try close(&iterator, &inner, if: true)
    }

    private static func entries(
        of dictionary: DBusDictionary, _ iterator: inout DBusMessageIter
    ) throws(DBusError) {
        var inner = DBusMessageIter()
        try open("a", dictionary.entrySignature, &iterator, &inner)
        for entry in dictionary.entries {
            do throws(DBusError) {
                try container("e", nil, [entry.key, entry.value], &inner)
            } catch {
                dbus_message_iter_abandon_container(&iterator, &inner)
                throw error
            }
        }
        try close(&iterator, &inner, if: true)
    }

    private static func open(
        _ kind: UnicodeScalar, _ signature: String?, _ iterator: inout DBusMessageIter,
        _ inner: inout DBusMessageIter
    ) throws(DBusError) {
        // The compiler's own conversion would allocate an array for each text.
        let done =
            signature?.withCString { dbus_message_iter_open_container(&iterator, CInt(kind.value), $0, &inner) }
            ?? dbus_message_iter_open_container(&iterator, CInt(kind.value), nil, &inner)
        guard done != 0 else { throw .outOfMemory }
    }

    private static func close(
        _ iterator: inout DBusMessageIter, _ inner: inout DBusMessageIter, if done: Bool
    ) throws(DBusError) {
        guard done else {
            dbus_message_iter_abandon_container(&iterator, &inner)
            throw .outOfMemory
        }
        guard dbus_message_iter_close_container(&iterator, &inner) != 0 else { throw .outOfMemory }
    }
}

extension DBusDictionary {
    /// The signature of one entry; that of properties, which nearly all calls contain, is a constant.
    fileprivate var entrySignature: String {
        if case (.string, .variant) = (keyType, valueType) { return "{sv}" }
        return "{" + keyType.text + valueType.text + "}"
    }
}
#endif
