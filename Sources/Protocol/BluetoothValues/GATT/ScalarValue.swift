/// The encoding of a ``ScalarValue``: one little-endian integer of fixed resolution.
public struct ScalarLayout<RawNumber: FixedWidthInteger & Hashable & Sendable>: Sendable {
    /// The unit of the value: "°C"; empty for a number without a unit.
    public let unit: String
    /// The number of the integer's steps in a unit, a power of ten: 100 for a resolution of 0.01.
    public let stepsPerUnit: Int
    /// The integers that encode a number; others are reserved.
    public let range: ClosedRange<RawNumber>
    /// The integer that encodes an unknown value; nil if the layout has no such integer.
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
    /// `value`: The value in the layout's unit, rounded to its resolution; nil means unknown.
    /// - Throws: ``GATTValueError`` if the value lies outside the layout's range, is not a number, or is nil and the
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
