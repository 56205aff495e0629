/// The encoding of a ``ScalarValue``: one little-endian integer of fixed resolution.
public struct ScalarLayout<RawNumber: FixedWidthInteger & Hashable & Sendable>: Sendable {
    /// The unit of the value: "°C"; empty for a number without a unit.
    public let unit: String
    /// The steps of the integer in a unit, a power of ten: 100 for a resolution of 0.01.
    public let stepsPerUnit: Int
    /// The integers that encode a number; others are reserved.
    public let range: ClosedRange<RawNumber>
    /// The integer that encodes an unknown value; nil if there is none.
    public let unknown: RawNumber?
    /// The number of encoded bytes.
    public let byteCount: Int

    /// Describes an encoding; by default all bytes of the integer, whole numbers without a unit, and none reserved.
    public init(
        unit: String = "", stepsPerUnit: Int = 1, range: ClosedRange<RawNumber> = .min ... .max,
        unknown: RawNumber? = nil, byteCount: Int = RawNumber.bitWidth / 8
    ) {
        self.unit = unit
        self.stepsPerUnit = stepsPerUnit
        self.range = range
        self.unknown = unknown
        self.byteCount = byteCount
    }
}

/// A physical quantity that is encoded as one integer of fixed resolution.
///
/// A conforming type declares its ``layout`` and stores ``rawNumber``; the rest is provided.
public protocol ScalarValue: GATTValue, CustomStringConvertible {
    /// The integer that stores the quantity.
    associatedtype RawNumber: FixedWidthInteger & Hashable & Sendable
    /// The encoding.
    static var layout: ScalarLayout<RawNumber> { get }
    /// The encoded number.
    var rawNumber: RawNumber { get }
    /// Creates a quantity from its encoded number, which lies in the layout's range or is its unknown value.
    init(uncheckedRawNumber rawNumber: RawNumber)
}

extension ScalarValue {
    /// Creates a quantity.
    ///
    /// `value`: In the layout's unit; rounded to its resolution. Nil is unknown.
    /// - Throws: ``GATTValueError`` if the value lies outside of the layout's range, is not a number, or is nil and the
    ///   layout has no unknown value.
    public init(_ value: Double?) throws(GATTValueError) {
        guard let value else {
            guard let unknown = Self.layout.unknown else {
                throw GATTValueError(value: Self.valueName, field: Self.valueName, problem: .notKnown)
            }
            self.init(uncheckedRawNumber: unknown)
            return
        }
        let steps = (value * Double(Self.layout.stepsPerUnit)).rounded()
        guard let raw = RawNumber(exactly: steps), Self.layout.range.contains(raw) else {
            let scale = Double(Self.layout.stepsPerUnit)
            throw Self.outOfRange(
                value, Self.valueName,
                Double(Self.layout.range.lowerBound) / scale...Double(Self.layout.range.upperBound) / scale)
        }
        self.init(uncheckedRawNumber: raw)
    }

    /// The quantity in the layout's unit; nil if it is unknown.
    public var value: Double? {
        rawNumber == Self.layout.unknown ? nil : Double(rawNumber) / Double(Self.layout.stepsPerUnit)
    }

    /// Reads the integer.
    ///
    /// - Throws: ``GATTValueError`` if the integer is reserved.
    public init(from reader: inout GATTReader) throws(GATTValueError) {
        let raw: RawNumber = try reader.integer(Self.valueName, bytes: Self.layout.byteCount)
        guard Self.layout.range.contains(raw) || raw == Self.layout.unknown else {
            throw reader.reserved(raw, Self.valueName)
        }
        self.init(uncheckedRawNumber: raw)
    }

    /// Writes the integer.
    public func write(to writer: inout GATTWriter) { writer.append(rawNumber, bytes: Self.layout.byteCount) }

    /// The quantity with its unit and as many digits as it has.
    public var description: String {
        guard let value else { return "not known" }
        let digits = String(Self.layout.stepsPerUnit).count - 1
        return Decimals.fixed(value, digits) + (Self.layout.unit.isEmpty ? "" : " " + Self.layout.unit)
    }
}

/// Decimal numbers for people, independent of the locale.
package enum Decimals {
    /// Ten to the `exponent`, 0...22, which is exact.
    package static func power(_ exponent: Int) -> Double { (0..<exponent).reduce(1) { power, _ in power * 10 } }

    /// `mantissa` times ten to the `exponent`, with one rounding.
    package static func scaled(_ mantissa: Int, exponent: Int) -> Double {
        // The text form rounds once; a product of powers would round several times.
        Double("\(mantissa)e\(exponent)") ?? .nan
    }

    /// `value` with exactly `digits` digits after the point, 0...9.
    package static func fixed(_ value: Double, _ digits: Int) -> String {
        let power = power(digits)
        guard value.isFinite, value.magnitude < 1e12, value.magnitude * power < 9e18 else { return "\(value)" }
        let whole = Int64((value.magnitude * power).rounded())
        let sign = value < 0 && whole != 0 ? "-" : ""
        guard digits > 0 else { return sign + String(whole) }
        let divisor = Int64(power)
        let fraction = String(whole % divisor)
        return sign + String(whole / divisor) + "." + String(repeating: "0", count: digits - fraction.count) + fraction
    }

    /// Two digits, as in dates.
    package static func pair(_ value: some BinaryInteger) -> String {
        value < 10 ? "0\(value)" : "\(value)"
    }

    /// Hexadecimal digits, upper case, at least `width`.
    package static func hex(_ value: some BinaryInteger, width: Int) -> String {
        let digits = String(value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
