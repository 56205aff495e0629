/// A typed value of a characteristic or descriptor, with its decoding and encoding.
///
/// Bytes of a peer may be anything: decoding throws a ``GATTValueError`` that names the field, and never traps.
/// Encoding cannot fail: every value has an encoding. Numbers are little-endian.
/// Source: Core Specification, Vol 3, Part G, 2.4; GATT Specification Supplement.
public protocol GATTValue: Hashable, Sendable {
    /// Reads the value's fields from the front of the bytes.
    ///
    /// - Throws: ``GATTValueError`` for a missing, reserved or malformed field; ``init(decoding:)`` checks for
    ///   left-over bytes.
    init(from reader: inout GATTReader) throws(GATTValueError)

    /// Appends the value's fields.
    func write(to writer: inout GATTWriter)

    /// Whether bytes after the last field are ignored, as services with a field of flags require; false by default.
    static var ignoresTrailingBytes: Bool { get }

    /// The name of the value in errors; by default the name of the type in words: "Heart Rate Measurement".
    static var valueName: String { get }
}

extension GATTValue {
    /// False: no byte may follow the last field.
    public static var ignoresTrailingBytes: Bool { false }

    /// The name of the type in words.
    public static var valueName: String { TypeName.words(of: Self.self) }

    /// Decodes the whole value of a characteristic or descriptor.
    ///
    /// `data`: The value as it was read or notified; a slice is read from its own start.
    /// - Throws: ``GATTValueError`` for a short, reserved or malformed field, or for left-over bytes.
    public init(decoding data: Data) throws(GATTValueError) {
        var reader = GATTReader(data, of: Self.self)
        try self.init(from: &reader)
        guard reader.count == 0 || Self.ignoresTrailingBytes else { throw reader.leftOver }
    }

    /// The bytes of the value.
    public var encoded: Data {
        var writer = GATTWriter()
        write(to: &writer)
        return writer.data
    }
}

extension GATTValue where Self: RawRepresentable, RawValue: FixedWidthInteger {
    /// Reads the raw value.
    ///
    /// - Throws: ``GATTValueError`` for a number without a case. An option set preserves all bits.
    public init(from reader: inout GATTReader) throws(GATTValueError) {
        self = try reader.value(Self.valueName)
    }

    /// Writes the raw value.
    public func write(to writer: inout GATTWriter) { writer.append(rawValue) }
}

/// The reason that bytes are not a value, or that a number is out of a value's range.
public struct GATTValueError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The problem of a field.
    public enum Problem: Hashable, Sendable {
        /// The value ends within the field: the number of bytes that the field needs, and the number of those left.
        case tooShort(needed: Int, available: Int)
        /// This number of bytes follows the last field of a value with a fixed length.
        case tooLong(extra: Int)
        /// The number has no meaning: it is reserved for future use, or prohibited.
        case reserved(Int64)
        /// The bytes are not UTF-8.
        case notUTF8
        /// The number lies outside the range of the layout or the specification, or is not a number.
        case outOfRange(Double, allowed: ClosedRange<Double>)
        /// The layout has no number for an unknown value.
        case notKnown
    }

    /// The type of the value that was decoded: "Heart Rate Measurement".
    public let value: String
    /// The field, as the specification names it: "Energy Expended".
    public let field: String
    /// The problem.
    public let problem: Problem

    /// Creates an error of a custom codec; ``GATTReader`` creates the usual ones.
    public init(value: String, field: String, problem: Problem) {
        self.value = value
        self.field = field
        self.problem = problem
    }

    /// A line for people.
    public var description: String {
        switch problem {
        case .tooShort(let needed, let available):
            "\(value): too short: field \(field) needs \(needed) \(Self.bytes(needed)), \(available) left"
        case .tooLong(let extra): "\(value): \(extra) \(Self.bytes(extra)) too long"
        case .reserved(let number): "\(value): field \(field) has the reserved value \(number)"
        case .notUTF8: "\(value): field \(field) is not UTF-8"
        case .outOfRange(let number, let allowed):
            "\(value): field \(field) cannot be \(number): \(allowed.lowerBound) to \(allowed.upperBound) are possible"
        case .notKnown: "\(value): field \(field) cannot be unknown"
        }
    }

    private static func bytes(_ count: Int) -> String { count == 1 ? "byte" : "bytes" }
}

extension GATTValue {
    /// Checks a number that becomes a field.
    ///
    /// - Throws: ``GATTValueError`` if it lies outside the range.
    package static func checked<Number: BinaryInteger, Field: FixedWidthInteger>(
        _ number: Number, _ field: String, in range: ClosedRange<Field>
    ) throws(GATTValueError) -> Field {
        guard let exact = Field(exactly: number), range.contains(exact) else {
            throw outOfRange(Double(number), field, Double(range.lowerBound)...Double(range.upperBound))
        }
        return exact
    }

    /// Checks a number that becomes a field, unless it is unknown.
    package static func checked<Number: BinaryInteger, Field: FixedWidthInteger>(
        _ number: Number?, _ field: String, in range: ClosedRange<Field>
    ) throws(GATTValueError) -> Field? {
        try number.map { (number) throws(GATTValueError) in try checked(number, field, in: range) }
    }

    package static func outOfRange(_ number: Double, _ field: String, _ allowed: ClosedRange<Double>) -> GATTValueError
    {
        GATTValueError(value: valueName, field: field, problem: .outOfRange(number, allowed: allowed))
    }
}

/// Names of types, for errors.
package enum TypeName {
    /// Returns the type name in words: `HeartRateMeasurement` as "Heart Rate Measurement".
    package static func words(of type: Any.Type) -> String {
        var result = ""
        var previous: Character?
        let name = Array(String(describing: type))
        for (index, character) in name.enumerated() {
            let isBeforeLower = index + 1 < name.count && name[index + 1].isLowercase
            if let previous, character.isUppercase, previous.isLowercase || isBeforeLower { result.append(" ") }
            result.append(character)
            previous = character
        }
        return result
    }
}
