/// Why bytes are not the value that they should be, or a number is none that the value can have.
public struct GATTValueError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong with the field.
    public enum Problem: Hashable, Sendable {
        /// The value ends inside of the field: the bytes that the field needs, and those that are left.
        case tooShort(needed: Int, available: Int)
        /// So many bytes follow the last field of a value that has a fixed length.
        case tooLong(extra: Int)
        /// The number has no meaning: it is reserved for future use, or prohibited.
        case reserved(Int64)
        /// The bytes are not UTF-8.
        case notUTF8
        /// The number lies outside of what the layout, or the specification, allows; so does what is not a number.
        case outOfRange(Double, allowed: ClosedRange<Double>)
        /// The layout has no number for "not known".
        case notKnown
    }

    /// The type of the value that was decoded: "Heart Rate Measurement".
    public let value: String
    /// The field, as the specification names it: "Energy Expended".
    public let field: String
    /// What is wrong.
    public let problem: Problem

    /// An error of a codec of one's own; ``GATTReader`` makes the usual ones.
    public init(value: String, field: String, problem: Problem) {
        self.value = value
        self.field = field
        self.problem = problem
    }

    /// For people, one line.
    public var description: String {
        switch problem {
        case .tooShort(let needed, let available):
            "\(value): too short: field \(field) needs \(needed) \(Self.bytes(needed)), \(available) left"
        case .tooLong(let extra): "\(value): \(extra) \(Self.bytes(extra)) too long"
        case .reserved(let number): "\(value): field \(field) has the reserved value \(number)"
        case .notUTF8: "\(value): field \(field) is not UTF-8"
        case .outOfRange(let number, let allowed):
            "\(value): field \(field) cannot be \(number): \(allowed.lowerBound) to \(allowed.upperBound) are possible"
        case .notKnown: "\(value): field \(field) cannot be \"not known\""
        }
    }

    private static func bytes(_ count: Int) -> String { count == 1 ? "byte" : "bytes" }
}

extension GATTValue {
    /// A number that is to become a field, as an integer.
    ///
    /// - Throws: That it lies outside of the range.
    static func checked<Number: BinaryInteger, Field: FixedWidthInteger>(
        _ number: Number, _ field: String, in range: ClosedRange<Field>
    ) throws(GATTValueError) -> Field {
        guard let exact = Field(exactly: number), range.contains(exact) else {
            throw outOfRange(Double(number), field, Double(range.lowerBound)...Double(range.upperBound))
        }
        return exact
    }

    static func outOfRange(_ number: Double, _ field: String, _ allowed: ClosedRange<Double>) -> GATTValueError {
        GATTValueError(value: valueName, field: field, problem: .outOfRange(number, allowed: allowed))
    }
}
