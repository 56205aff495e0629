/// A physical quantity that is one integer of fixed resolution.
///
/// A type of one's own names its unit, the steps of a unit and the range; the rest comes by itself.
public protocol ScalarValue: GATTValue, CustomStringConvertible {
    /// The integer that holds it.
    associatedtype RawNumber: FixedWidthInteger & Hashable & Sendable
    /// The bytes on the air; all of ``RawNumber`` by default.
    static var byteCount: Int { get }
    /// The unit of ``value``: "°C".
    static var unit: String { get }
    /// How many steps of the integer a unit has: 100 for a resolution of 0.01; a power of ten.
    static var stepsPerUnit: Int { get }
    /// The integers that mean a number; others are reserved.
    static var range: ClosedRange<RawNumber> { get }
    /// The integer that means "not known", if there is one.
    static var unknown: RawNumber? { get }
    /// The integer.
    var rawNumber: RawNumber { get }
    /// A quantity from its integer, which lies in ``range`` or is ``unknown``.
    init(uncheckedRawNumber rawNumber: RawNumber)
}

extension ScalarValue {
    /// All bytes of the integer.
    public static var byteCount: Int { RawNumber.bitWidth / 8 }
    /// No integer means "not known".
    public static var unknown: RawNumber? { nil }

    /// A quantity.
    ///
    /// `value`: In ``unit``; rounded to the resolution. Nil is "not known".
    /// - Throws: That it lies outside of ``range`` or is not a number, or that the layout cannot say "not known".
    public init(_ value: Double?) throws(GATTValueError) {
        guard let value else {
            guard let unknown = Self.unknown else {
                throw GATTValueError(value: Self.valueName, field: Self.valueName, problem: .notKnown)
            }
            self.init(uncheckedRawNumber: unknown)
            return
        }
        let steps = (value * Double(Self.stepsPerUnit)).rounded()
        guard let raw = RawNumber(exactly: steps), Self.range.contains(raw) else {
            let scale = Double(Self.stepsPerUnit)
            throw Self.outOfRange(
                value, Self.valueName, Double(Self.range.lowerBound) / scale...Double(Self.range.upperBound) / scale)
        }
        self.init(uncheckedRawNumber: raw)
    }

    /// The quantity in ``unit``; nil where it is not known.
    public var value: Double? { rawNumber == Self.unknown ? nil : Double(rawNumber) / Double(Self.stepsPerUnit) }

    /// Reads the integer.
    ///
    /// - Throws: That it is reserved where it lies outside of ``range``.
    public init(from reader: inout GATTReader) throws(GATTValueError) {
        let raw: RawNumber = try reader.integer(Self.valueName, bytes: Self.byteCount)
        guard Self.range.contains(raw) || raw == Self.unknown else {
            throw reader.reserved(raw, Self.valueName)
        }
        self.init(uncheckedRawNumber: raw)
    }

    /// Writes the integer.
    public func write(to writer: inout GATTWriter) { writer.append(rawNumber, bytes: Self.byteCount) }

    /// The quantity with its unit and as many digits as it has.
    public var description: String {
        guard let value else { return "not known" }
        let digits = String(Self.stepsPerUnit).count - 1
        return Decimals.fixed(value, digits) + (Self.unit.isEmpty ? "" : " " + Self.unit)
    }
}
