/// A number of the IEEE 11073 type FLOAT, `medfloat32`: 24 bits of mantissa and 8 of exponent to the base 10.
///
/// The exponent expresses the precision: 36.4 and 36.40 are different values.
/// Source: ISO/IEEE 11073-20601, F.7; Bluetooth White Paper "Personal Health Devices Transcoding", 2.2.1.
public struct MedicalFloat: GATTValue, CustomStringConvertible {
    /// The four bytes.
    public let bits: UInt32

    /// Creates a number from its four bytes, most significant first; nil for 0x00800001, which is reserved.
    public init?(bits: UInt32) {
        guard bits != 0x0080_0001 else { return nil }
        self.bits = bits
    }

    private init(special bits: UInt32) { self.bits = bits }

    /// The measurement is invalid.
    public static let notANumber = MedicalFloat(special: 0x007F_FFFF)
    /// The number cannot be expressed at this resolution.
    public static let notAtThisResolution = MedicalFloat(special: 0x0080_0000)
    /// The number is above the measurable range.
    public static let positiveInfinity = MedicalFloat(special: 0x007F_FFFE)
    /// The number is below the measurable range.
    public static let negativeInfinity = MedicalFloat(special: 0x0080_0002)

    /// Creates the number `mantissa` times ten to the `exponent`.
    ///
    /// `mantissa`: -8,388,605...8,388,605.
    /// - Throws: ``GATTValueError`` if the mantissa is out of range.
    public init(mantissa: Int, exponent: Int8) throws(GATTValueError) {
        self.init(checked: try Self.checked(mantissa, "Mantissa", in: Int32(-0x7F_FFFD)...0x7F_FFFD), exponent)
    }

    private init(checked mantissa: Int32, _ exponent: Int8) {
        bits = UInt32(bitPattern: mantissa) & 0xFF_FFFF | UInt32(UInt8(bitPattern: exponent)) << 24
    }

    /// Creates the nearest number with this many digits after the point.
    ///
    /// - Parameters:
    ///   - value: Infinities and "not a number" become the special values of these names.
    ///   - digits: The number of digits, 0...9.
    /// - Throws: ``GATTValueError`` if a finite value needs a mantissa outside -8,388,605...8,388,605, or `digits` is
    ///   out of range.
    public init(_ value: Double, digits: Int = 1) throws(GATTValueError) {
        let digits = Int(try Self.checked(digits, "Digits", in: UInt8(0)...9))
        guard value.isFinite else {
            self = value.isNaN ? .notANumber : value < 0 ? .negativeInfinity : .positiveInfinity
            return
        }
        let scaled = (value * Decimals.power(digits)).rounded()
        guard scaled.magnitude <= 0x7F_FFFD else {
            let largest = 0x7F_FFFD / Decimals.power(digits)
            throw Self.outOfRange(value, "FLOAT", -largest...largest)
        }
        self.init(checked: Int32(scaled), Int8(-digits))
    }

    /// Creates a measured number; an infinity if it is beyond the range of the type.
    package init(measured value: Double) {
        do {
            try self.init(value)
        } catch {
            self = value < 0 ? .negativeInfinity : .positiveInfinity
        }
    }

    /// The mantissa; meaningless for a special value.
    public var mantissa: Int { Int(Int32(bitPattern: bits << 8) >> 8) }
    /// The exponent to the base 10.
    public var exponent: Int8 { Int8(truncatingIfNeeded: bits >> 24) }

    /// The number; `nan` also for ``notAtThisResolution``.
    public var value: Double {
        switch self {
        case .notANumber, .notAtThisResolution: .nan
        case .positiveInfinity: .infinity
        case .negativeInfinity: -.infinity
        default: Decimals.scaled(mantissa, exponent: Int(exponent))
        }
    }

    /// Reads four bytes.
    ///
    /// - Throws: ``GATTValueError`` if the value is 0x00800001, which is reserved.
    public init(from reader: inout GATTReader) throws(GATTValueError) {
        self = try reader.float("FLOAT")
    }

    /// Writes four bytes.
    public func write(to writer: inout GATTWriter) { writer.append(bits) }

    /// The number with its digits.
    public var description: String {
        switch self {
        case .notANumber: "not a number"
        case .notAtThisResolution: "not at this resolution"
        case .positiveInfinity: "infinity"
        case .negativeInfinity: "-infinity"
        default: Decimals.fixed(value, min(max(-Int(exponent), 0), 9))
        }
    }
}
