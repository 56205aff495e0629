import Foundation

/// Takes little-endian fields off the front of a value; nil at its end.
struct ByteReader {
    private var rest: Data

    init(_ data: Data) { rest = data }

    /// How many bytes are left.
    var count: Int { rest.count }

    /// The next unsigned integer of `width` bytes, 1...8.
    private mutating func unsigned(_ width: Int) -> UInt64? {
        guard rest.count >= width else { return nil }
        defer { rest = rest.dropFirst(width) }
        return rest.prefix(width).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    mutating func uint8() -> UInt8? { unsigned(1).map { UInt8(truncatingIfNeeded: $0) } }
    mutating func int8() -> Int8? { uint8().map { Int8(bitPattern: $0) } }
    mutating func uint16() -> UInt16? { unsigned(2).map { UInt16(truncatingIfNeeded: $0) } }
    mutating func int16() -> Int16? { uint16().map { Int16(bitPattern: $0) } }
    mutating func uint24() -> UInt32? { unsigned(3).map { UInt32(truncatingIfNeeded: $0) } }
    mutating func uint32() -> UInt32? { unsigned(4).map { UInt32(truncatingIfNeeded: $0) } }
    mutating func uint40() -> UInt64? { unsigned(5) }

    /// An IEEE 11073 32-bit FLOAT: 24 bits of mantissa, 8 of exponent to the base 10.
    ///
    /// - Returns: nil also for the reserved values (not a number, not at this resolution, infinities).
    mutating func medicalFloat() -> Double? {
        guard let raw = uint32() else { return nil }
        let mantissa = Int32(bitPattern: raw << 8) >> 8
        guard (-0x7F_FFFD...0x7F_FFFD).contains(mantissa) else { return nil }
        return Decimals.scaled(Int(mantissa), exponent: Int(Int8(truncatingIfNeeded: Int32(bitPattern: raw) >> 24)))
    }
}
