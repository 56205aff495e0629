#if os(Linux)
import Glibc

/// Iterates over a message's arguments, or over the elements of a container in it.
///
/// Each read checks the type and advances. Reading by type copies only the requested values.
public struct DBusReader {
    private let message: DBusMessage
    private var iterator: DBusIterator
    /// Whether the value at the iterator was read: the iterator advances when the next value is asked for, which is never
    /// the case for the last one.
    private var isRead = false
    private var knownCode: UInt8?

    /// Begins at the first argument.
    public init(_ message: DBusMessage) {
        self.message = message
        iterator = DBusIterator(reading: message.raw)
    }

    private init(entering outer: inout DBusReader) {
        message = outer.message
        iterator = outer.iterator.content()
    }

    /// Whether all values were read.
    public var isAtEnd: Bool {
        mutating get { code == 0 }
    }

    /// The type code of the next value: a character of the specification, with `a`, `r`, `e`, `v` for containers; zero
    /// at the end.
    private var code: UInt8 {
        mutating get {
            if isRead {
                iterator.next()
                isRead = false
            } else if let knownCode {
                return knownCode
            }
            let code = iterator.code
            knownCode = code
            return code
        }
    }

    // MARK: Values by type

    /// Reads an `s`.
    public mutating func string() throws(DBusError) -> String {
        String(cString: try text("s"))
    }

    /// Reads an `o`.
    public mutating func path() throws(DBusError) -> ObjectPath {
        ObjectPath(validated: String(cString: try text("o")))
    }

    /// Reads a `b`.
    public mutating func bool() throws(DBusError) -> Bool {
        try basic("b", UInt32(0)) != 0
    }

    /// Reads a `y`.
    public mutating func byte() throws(DBusError) -> UInt8 { try basic("y", 0) }

    /// Reads an `n`.
    public mutating func int16() throws(DBusError) -> Int16 { try basic("n", 0) }

    /// Reads a `q`.
    public mutating func uint16() throws(DBusError) -> UInt16 { try basic("q", 0) }

    /// Reads a `u`.
    public mutating func uint32() throws(DBusError) -> UInt32 { try basic("u", 0) }

    /// Reads an `h`; the caller owns the descriptor.
    public mutating func fileDescriptor() throws(DBusError) -> DBusFileDescriptor {
        let descriptor: CInt = try basic("h", -1)
        guard descriptor >= 0 else {
            throw DBusError(name: DBusError.Name.inconsistentMessage, message: "file descriptor is missing")
        }
        return DBusFileDescriptor(adopting: descriptor)
    }

    /// Reads an `ay` with one copy.
    public mutating func bytes() throws(DBusError) -> [UInt8] { try withBytes { Array($0) } }

    /// Reads an `ay` without a copy.
    ///
    /// - Parameter body: Receives the bytes, which are valid only during the call.
    public mutating func withBytes<Result>(
        _ body: (UnsafeBufferPointer<UInt8>) -> Result
    ) throws(DBusError) -> Result {
        guard code == UInt8(ascii: "a"), iterator.elementCode == UInt8(ascii: "y") else { throw mismatch("ay") }
        var elements = iterator.content()
        isRead = true
        return body(elements.bytes())
    }

    /// Reads an `s` without a copy.
    ///
    /// - Parameter body: Receives the text's UTF-8, which is valid only during the call.
    public mutating func withString<Result>(
        _ body: (UnsafeBufferPointer<UInt8>) -> Result
    ) throws(DBusError) -> Result {
        let text = try text("s")
        let length = strlen(text)
        return text.withMemoryRebound(to: UInt8.self, capacity: length) {
            body(UnsafeBufferPointer(start: $0, count: length))
        }
    }

    /// Reads an `as`.
    public mutating func strings() throws(DBusError) -> [String] {
        try elements { element throws(DBusError) in try element.string() }
    }

    /// Reads an `a{sv}`, without the variants; the last of equal keys is used.
    public mutating func properties() throws(DBusError) -> [String: DBusValue] {
        var result: [String: DBusValue] = [:]
        try forEachEntry { entry throws(DBusError) in result[try entry.string()] = try entry.variant() }
        return result
    }

    /// Reads a `v` and returns its content.
    public mutating func variant() throws(DBusError) -> DBusValue {
        try variant(depth: 0)
    }

    /// Enters a `v`; this reader advances past it.
    public mutating func variantContent() throws(DBusError) -> DBusReader {
        try container("v")
    }

    /// Enters an array or dictionary; this reader advances past it.
    public mutating func array() throws(DBusError) -> DBusReader {
        try container("a")
    }

    /// Reads the elements of an array, each with `read`.
    public mutating func elements<Element>(
        _ read: (inout DBusReader) throws(DBusError) -> Element
    ) throws(DBusError) -> [Element] {
        var elements = try array()
        var result: [Element] = []
        while !elements.isAtEnd { result.append(try read(&elements)) }
        return result
    }

    /// Reads the entries of a dictionary, each with `read`: the key, then the value.
    public mutating func forEachEntry(
        _ read: (inout DBusReader) throws(DBusError) -> Void
    ) throws(DBusError) {
        var entries = try array()
        while !entries.isAtEnd {
            var entry = try entries.dictionaryEntry()
            try read(&entry)
        }
    }

    /// Enters a dictionary's entry: key, then value.
    public mutating func dictionaryEntry() throws(DBusError) -> DBusReader {
        try container("e")
    }

    mutating func structure() throws(DBusError) -> DBusReader {
        try container("r")
    }

    /// Reads a value of any type.
    public mutating func value() throws(DBusError) -> DBusValue {
        try value(depth: 0)
    }

    /// Reads the remaining values.
    public mutating func remainingValues() throws(DBusError) -> [DBusValue] {
        try remainingValues(depth: 0)
    }

    /// Reads an `s` or `o` if the next value is one.
    mutating func stringOrPathIfPresent() -> (text: String, isPath: Bool)? {
        let isPath = code == UInt8(ascii: "o")
        guard isPath || code == UInt8(ascii: "s") else { return nil }
        return text().map { (String(cString: $0), isPath) }
    }
}

// MARK: - Any type

extension DBusReader {
    private mutating func value(depth: Int) throws(DBusError) -> DBusValue {
        // libdbus refuses deeper messages on receipt; this bounds the recursion in any case.
        guard depth <= 2 * DBusLimits.totalDepth else { throw mismatch("a value of less depth") }
        switch code {
        case UInt8(ascii: "y"): return .byte(try byte())
        case UInt8(ascii: "b"): return .boolean(try bool())
        case UInt8(ascii: "n"): return .int16(try int16())
        case UInt8(ascii: "q"): return .uint16(try uint16())
        case UInt8(ascii: "i"): return .int32(try basic("i", 0))
        case UInt8(ascii: "u"): return .uint32(try uint32())
        case UInt8(ascii: "x"): return .int64(try basic("x", 0))
        case UInt8(ascii: "t"): return .uint64(try basic("t", 0))
        case UInt8(ascii: "d"): return .double(try basic("d", 0))
        case UInt8(ascii: "s"): return .string(try string())
        case UInt8(ascii: "o"): return .objectPath(try path())
        case UInt8(ascii: "g"): return .signature(try signature())
        case UInt8(ascii: "h"): return .fileDescriptor(try fileDescriptor())
        case UInt8(ascii: "v"): return .variant(try variant(depth: depth))
        case UInt8(ascii: "r"): return .structure(try members(depth: depth + 1))
        case UInt8(ascii: "a"): return try arrayValue(depth: depth)
        default: throw mismatch("a value")
        }
    }

    private mutating func signature() throws(DBusError) -> DBusSignature {
        let text = String(cString: try text("g"))
        guard let signature = DBusSignature(text) else { throw mismatch("a valid signature") }
        return signature
    }

    private mutating func variant(depth: Int) throws(DBusError) -> DBusValue {
        var inner = try variantContent()
        return try inner.value(depth: depth + 1)
    }

    private mutating func members(depth: Int) throws(DBusError) -> [DBusValue] {
        var inner = try structure()
        return try inner.remainingValues(depth: depth)
    }

    private mutating func remainingValues(depth: Int) throws(DBusError) -> [DBusValue] {
        var values: [DBusValue] = []
        while !isAtEnd { values.append(try value(depth: depth)) }
        return values
    }

    private mutating func arrayValue(depth: Int) throws(DBusError) -> DBusValue {
        let code = iterator.elementCode
        if code == UInt8(ascii: "y") { return .bytes(try bytes()) }
        if code == UInt8(ascii: "s") { return .strings(try strings()) }
        guard let signature = iterator.signature else { throw .outOfMemory }
        let type = DBusType(validated: signature)
        guard let (key, value) = type.entry else {
            return .array(
                type.element, try elements { element throws(DBusError) in try element.value(depth: depth + 1) })
        }
        var entries: [DBusDictionary.Entry] = []
        try forEachEntry { entry throws(DBusError) in
            entries.append(.init(key: try entry.value(depth: depth + 2), value: try entry.value(depth: depth + 2)))
        }
        return .dictionary(DBusDictionary(keyType: key, valueType: value, entries: entries))
    }
}

// MARK: - Iterator

extension DBusReader {
    private mutating func container(_ code: UnicodeScalar) throws(DBusError) -> DBusReader {
        guard self.code == UInt8(ascii: code) else { throw mismatch(String(code)) }
        defer { isRead = true }
        return DBusReader(entering: &self)
    }

    private mutating func basic<Value: BitwiseCopyable>(
        _ code: UnicodeScalar, _ initial: Value
    ) throws(DBusError) -> Value {
        guard self.code == UInt8(ascii: code) else { throw mismatch(String(code)) }
        var value = initial
        iterator.copyBasic(to: &value)
        isRead = true
        return value
    }

    private mutating func text(_ code: UnicodeScalar) throws(DBusError) -> UnsafePointer<CChar> {
        guard self.code == UInt8(ascii: code), let text = text() else { throw mismatch(String(code)) }
        return text
    }

    /// The text of a string, path or signature; the message, which this reader retains, owns it.
    private mutating func text() -> UnsafePointer<CChar>? {
        var text: UnsafePointer<CChar>?
        iterator.copyBasic(to: &text)
        isRead = true
        return text
    }

    private mutating func mismatch(_ expected: String) -> DBusError {
        let found = code == 0 ? "the end" : String(UnicodeScalar(code))
        return DBusError(
            name: DBusError.Name.inconsistentMessage,
            message: "expected \(expected) and found \(found) in a message of signature '\(message.signature)'")
    }
}
#endif
