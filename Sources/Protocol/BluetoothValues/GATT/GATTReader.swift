/// A reader that takes fields off the front of a value, least significant byte first.
public struct GATTReader: Sendable {
    private let data: Data
    private var index: Data.Index
    private let type: any GATTValue.Type

    /// Creates a reader of a value's type, whose name errors contain.
    package init(_ data: Data, of type: any GATTValue.Type) {
        self.data = data
        self.type = type
        index = data.startIndex
    }

    /// The number of bytes left.
    public var count: Int { data.endIndex - index }

    /// Reads the next integer.
    ///
    /// - Parameters:
    ///   - field: The field's name in the specification, for errors.
    ///   - bytes: The number of bytes, if the field is narrower than its type: 3 for a 24-bit number in an `Int32`. The
    ///     sign is extended.
    /// - Throws: ``GATTValueError`` if the value is too short.
    public mutating func integer<Number: FixedWidthInteger>(
        _ field: @autoclosure () -> String, bytes: Int = Number.bitWidth / 8
    ) throws(GATTValueError) -> Number {
        guard count >= bytes else { throw tooShort(field(), needed: bytes) }
        var number: Number = 0
        for offset in 0..<bytes { number |= Number(truncatingIfNeeded: data[index + offset]) << (8 * offset) }
        index += bytes
        let unused = Number.bitWidth - 8 * bytes
        return (number << unused) >> unused
    }

    /// Reads the next number of one byte.
    public mutating func uint8(_ field: @autoclosure () -> String) throws(GATTValueError) -> UInt8 {
        try integer(field())
    }

    /// Reads the next number of two bytes.
    public mutating func uint16(_ field: @autoclosure () -> String) throws(GATTValueError) -> UInt16 {
        try integer(field())
    }

    /// Reads the next number of four bytes.
    public mutating func uint32(_ field: @autoclosure () -> String) throws(GATTValueError) -> UInt32 {
        try integer(field())
    }

    /// Reads the next number of one byte, and checks it.
    ///
    /// - Throws: ``GATTValueError`` if the number lies outside `range`, and is therefore reserved.
    public mutating func uint8(
        _ field: @autoclosure () -> String, in range: ClosedRange<UInt8>
    ) throws(GATTValueError) -> UInt8 {
        let number = try uint8(field())
        guard range.contains(number) else { throw reserved(number, field()) }
        return number
    }

    /// Reads the next number as the case or the option set that it encodes.
    ///
    /// - Throws: ``GATTValueError`` for a number without a case.
    package mutating func value<Value: RawRepresentable>(
        _ field: @autoclosure () -> String
    ) throws(GATTValueError) -> Value where Value.RawValue: FixedWidthInteger {
        let raw: Value.RawValue = try integer(field())
        guard let value = Value(rawValue: raw) else { throw reserved(raw, field()) }
        return value
    }

    /// Reads the next number, which must be this one: another number means another format.
    package mutating func constant<Number: FixedWidthInteger>(
        _ number: Number, _ field: @autoclosure () -> String
    ) throws(GATTValueError) {
        let found: Number = try integer(field())
        guard found == number else { throw reserved(found, field()) }
    }

    /// Reads the next `medfloat32`.
    ///
    /// - Throws: ``GATTValueError``, also if the number is the reserved one.
    public mutating func float(_ field: @autoclosure () -> String) throws(GATTValueError) -> MedicalFloat {
        let bits = try uint32(field())
        guard let float = MedicalFloat(bits: bits) else { throw reserved(bits, field()) }
        return float
    }

    /// Reads a number of bytes; the rest of the value by default.
    public mutating func bytes(
        _ field: @autoclosure () -> String, count wanted: Int? = nil
    ) throws(GATTValueError) -> Data {
        let wanted = wanted ?? count
        guard count >= wanted else { throw tooShort(field(), needed: wanted) }
        defer { index += wanted }
        return Data(data[index..<index + wanted])
    }

    /// Reads the rest of the value as text, without the zero that some devices append.
    public mutating func text(_ field: @autoclosure () -> String) throws(GATTValueError) -> String {
        let bytes = try bytes(field())
        let padding = bytes.reversed().prefix { $0 == 0 }.count
        let text = String(validating: bytes.dropLast(padding), as: UTF8.self)
        guard let text else { throw error(field(), .notUTF8) }
        return text
    }

    /// Reads text up to a zero, and the zero.
    ///
    /// - Throws: ``GATTValueError`` if the zero is missing, or the text is not UTF-8.
    public mutating func terminatedText(_ field: @autoclosure () -> String) throws(GATTValueError) -> String {
        guard let end = data[index...].firstIndex(of: 0) else { throw tooShort(field(), needed: count + 1) }
        defer { index = data.index(after: end) }
        guard let text = String(validating: data[index..<end], as: UTF8.self) else { throw error(field(), .notUTF8) }
        return text
    }

    /// Returns the error of a number without a meaning.
    public func reserved(_ number: some BinaryInteger, _ field: String) -> GATTValueError {
        error(field, .reserved(Int64(clamping: number)))
    }

    /// Returns the error of a value that ends too early.
    package func tooShort(_ field: String, needed: Int) -> GATTValueError {
        error(field, .tooShort(needed: needed, available: count))
    }

    /// The error of bytes after the last field.
    var leftOver: GATTValueError { error(type.valueName, .tooLong(extra: count)) }

    private func error(_ field: String, _ problem: GATTValueError.Problem) -> GATTValueError {
        GATTValueError(value: type.valueName, field: field, problem: problem)
    }
}

/// A writer that appends the fields of a value, least significant byte first.
public struct GATTWriter: Sendable {
    /// The written bytes.
    public private(set) var data = Data()

    /// Creates an empty writer.
    public init() {}

    /// Appends an integer.
    ///
    /// `bytes`: The number of its bytes to append, the least significant ones; all by default.
    public mutating func append<Number: FixedWidthInteger>(_ number: Number, bytes: Int = Number.bitWidth / 8) {
        for offset in 0..<bytes { data.append(UInt8(truncatingIfNeeded: number >> (8 * offset))) }
    }

    /// Appends bytes.
    public mutating func append(bytes: some Sequence<UInt8>) { data.append(contentsOf: bytes) }

    /// Appends text as UTF-8, without a zero at its end.
    public mutating func append(text: String) { data.append(contentsOf: text.utf8) }

    /// Appends another value.
    public mutating func append(_ value: some GATTValue) { value.write(to: &self) }
}

extension FixedWidthInteger {
    /// The bytes of the number, least significant first.
    package var littleEndianBytes: Data {
        var writer = GATTWriter()
        writer.append(self)
        return writer.data
    }
}
