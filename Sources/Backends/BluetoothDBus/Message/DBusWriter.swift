#if os(Linux)
/// Appends validated values to a message, or to a container in it.
///
/// Fails only if no memory is left.
struct DBusWriter {
    private var iterator: DBusIterator

    init(_ message: DBusMessage) { iterator = DBusIterator(appendingTo: message.raw) }

    private init() { iterator = DBusIterator() }

    mutating func append(_ value: DBusValue) throws(DBusError) {
        switch value {
        case .byte(let value): try basic("y", value)
        case .boolean(let value): try basic("b", UInt32(value ? 1 : 0))
        case .int16(let value): try basic("n", value)
        case .uint16(let value): try basic("q", value)
        case .int32(let value): try basic("i", value)
        case .uint32(let value): try basic("u", value)
        case .int64(let value): try basic("x", value)
        case .uint64(let value): try basic("t", value)
        case .double(let value): try basic("d", value)
        case .string(let value): try text("s", value)
        case .objectPath(let value): try text("o", value.text)
        case .signature(let value): try text("g", value.text)
        case .fileDescriptor(let value): try basic("h", value.rawValue)
        case .bytes(let value): try append(value.span)
        case .array(let element, let values): try container("a", element.text, values)
        case .dictionary(let dictionary): try entries(of: dictionary)
        case .structure(let members): try container("r", nil, members)
        case .variant(let value):
            try container("v", value.type.text) { writer throws(DBusError) in try writer.append(value) }
        }
    }

    private mutating func basic(_ code: Unicode.Scalar, _ value: some BitwiseCopyable) throws(DBusError) {
        let done = withUnsafePointer(to: value) { iterator.appendBasic(code, $0) }
        guard done else { throw .outOfMemory }
    }

    private mutating func text(_ code: Unicode.Scalar, _ value: String) throws(DBusError) {
        // The compiler's own conversion would allocate an array for each text.
        let done = value.withCString { text in
            withUnsafePointer(to: text) { iterator.appendBasic(code, $0) }
        }
        guard done else { throw .outOfMemory }
    }

    /// Appends an `ay`.
    mutating func append(_ bytes: Span<UInt8>) throws(DBusError) {
        try container("a", "y") { writer throws(DBusError) in
            guard bytes.withUnsafeBufferPointer({ writer.iterator.append($0) }) else { throw .outOfMemory }
        }
    }

    private mutating func entries(of dictionary: DBusDictionary) throws(DBusError) {
        // The signature of properties, which nearly all calls contain, is a constant.
        let signature =
            dictionary.isProperties ? "{sv}" : "{" + dictionary.keyType.text + dictionary.valueType.text + "}"
        try container("a", signature) { writer throws(DBusError) in
            for entry in dictionary.entries {
                try writer.container("e", nil) { writer throws(DBusError) in
                    try writer.append(entry.key)
                    try writer.append(entry.value)
                }
            }
        }
    }

    private mutating func container(
        _ code: Unicode.Scalar, _ signature: String?, _ values: [DBusValue]
    ) throws(DBusError) {
        try container(code, signature) { writer throws(DBusError) in
            for value in values { try writer.append(value) }
        }
    }

    /// Opens a container, which `fill` fills, and closes it.
    private mutating func container(
        _ code: Unicode.Scalar, _ signature: String?, _ fill: (inout DBusWriter) throws(DBusError) -> Void
    ) throws(DBusError) {
        var inner = DBusWriter()
        // As above, no conversion by the compiler.
        let opened =
            signature?.withCString { iterator.open(code, $0, &inner.iterator) }
            ?? iterator.open(code, nil, &inner.iterator)
        guard opened else { throw .outOfMemory }
        do throws(DBusError) {
            try fill(&inner)
        } catch {
            iterator.abandon(&inner.iterator)
            throw error
        }
        guard iterator.close(&inner.iterator) else { throw .outOfMemory }
    }
}
#endif
