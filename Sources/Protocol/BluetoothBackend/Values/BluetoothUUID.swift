public import BluetoothSupport

/// A Bluetooth UUID of 16, 32 or 128 bits.
///
/// Equality and hashing use the 128-bit form over the Bluetooth Base UUID; the original width is kept for printing and
/// for the air. Source: Core Specification, Vol 3, Part B, 2.5.1.
public struct BluetoothUUID: Sendable {
    /// The width of a UUID as it was written.
    public enum Width: UInt8, Sendable, Codable {
        /// Two bytes.
        case bits16 = 2
        /// Four bytes.
        case bits32 = 4
        /// Sixteen bytes.
        case bits128 = 16
    }

    /// The lower half of the Bluetooth Base UUID, 00000000-0000-1000-8000-00805F9B34FB.
    private static let baseLow: UInt64 = 0x8000_0080_5F9B_34FB
    /// The upper half of the Bluetooth Base UUID, whose first 32 bits are those of a short form.
    private static let baseHigh: UInt64 = 0x0000_0000_0000_1000

    // Two halves rather than one UInt128: in debug builds for arm64, a UInt128 in an argument of an async function may
    // arrive changed. https://github.com/swiftlang/swift/issues/91204
    private let high: UInt64
    private let low: UInt64
    /// The width in which the UUID was written.
    public let width: Width

    /// The 128-bit value.
    public var value: UInt128 { UInt128(high) << 64 | UInt128(low) }

    private init(high: UInt64, low: UInt64, width: Width) {
        (self.high, self.low, self.width) = (high, low, width)
    }

    /// Creates a 16-bit UUID assigned by the Bluetooth SIG.
    public init(_ short: UInt16) {
        self.init(high: UInt64(short) << 32 | Self.baseHigh, low: Self.baseLow, width: .bits16)
    }

    /// Creates a 32-bit UUID assigned by the Bluetooth SIG.
    public init(bits32 short: UInt32) {
        self.init(high: UInt64(short) << 32 | Self.baseHigh, low: Self.baseLow, width: .bits32)
    }

    /// Creates a 128-bit UUID.
    public init(value: UInt128) {
        self.init(
            high: UInt64(truncatingIfNeeded: value >> 64), low: UInt64(truncatingIfNeeded: value), width: .bits128)
    }

    /// Reads 4 or 8 hexadecimal digits, with or without `0x`, or the 8-4-4-4-12 form, in either letter case.
    ///
    /// - Returns: nil for anything else.
    public init?(_ text: some StringProtocol) {
        var text = String(text)
        guard let uuid = text.withUTF8({ Self(utf8: $0) }) else { return nil }
        self = uuid
    }

    private init?(utf8 text: UnsafeBufferPointer<UInt8>) {
        let isShort = text.count == 6 || text.count == 10
        let isPrefixed = isShort && text[0] == UInt8(ascii: "0") && text[1] | 0x20 == UInt8(ascii: "x")
        let digits = isPrefixed ? text.dropFirst(2) : text[...]
        var (high, low): (UInt64, UInt64) = (0, 0)
        for (index, byte) in digits.enumerated() {
            switch index {
            case 8, 13, 18, 23:
                guard byte == UInt8(ascii: "-") else { return nil }
            default:
                guard let digit = byte.hexDigitValue else { return nil }
                (high, low) = (high << 4 | low >> 60, low << 4 | UInt64(digit))
            }
        }
        switch digits.count {
        case 4: self.init(UInt16(low))
        case 8: self.init(bits32: UInt32(low))
        case 36: self.init(high: high, low: low, width: .bits128)
        default: return nil
        }
    }

    /// Reads 2, 4 or 16 bytes, most significant first.
    ///
    /// - Returns: nil for any other count.
    public init?(bigEndian bytes: some Collection<UInt8>) {
        switch bytes.count {
        case 2: self.init(bytes.reduce(UInt16(0)) { $0 << 8 | UInt16($1) })
        case 4: self.init(bits32: bytes.reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
        case 16: self.init(high: Self.half(bytes.prefix(8)), low: Self.half(bytes.suffix(8)), width: .bits128)
        default: return nil
        }
    }

    /// Creates a 128-bit UUID from UUID byte order.
    public init(_ uuid: UUID) {
        self = withUnsafeBytes(of: uuid.uuid) {
            Self(high: Self.half($0.prefix(8)), low: Self.half($0.suffix(8)), width: .bits128)
        }
    }

    private static func half(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The bytes, 2, 4 or 16, most significant first.
    public var bigEndianBytes: [UInt8] {
        switch width {
        case .bits16: Self.bytes(high, from: 2, to: 4)
        case .bits32: Self.bytes(high, from: 0, to: 4)
        case .bits128: Self.bytes(high, from: 0, to: 8) + Self.bytes(low, from: 0, to: 8)
        }
    }

    private static func bytes(_ half: UInt64, from start: Int, to end: Int) -> [UInt8] {
        (start..<end).map { UInt8(truncatingIfNeeded: half >> (8 * (7 - $0))) }
    }

    /// Upper-case digits in the original width: 4, 8 or 36 characters.
    public var text: String {
        let bytes = Data(bigEndianBytes)
        guard width == .bits128 else { return bytes.hexText }
        return [0..<4, 4..<6, 6..<8, 8..<10, 10..<16].map { bytes[$0].hexText }.joined(separator: "-")
    }

    /// The 16-bit form, if the UUID has one in any width.
    public var bits16: UInt16? {
        guard low == Self.baseLow, high & 0xFFFF_FFFF == Self.baseHigh else { return nil }
        return UInt16(exactly: high >> 32)
    }
}

extension BluetoothUUID: Hashable {
    /// Whether both are the same 128-bit UUID.
    public static func == (left: Self, right: Self) -> Bool {
        left.high == right.high && left.low == right.low
    }
    /// Hashes the 128-bit UUID.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(high)
        hasher.combine(low)
    }
}

extension BluetoothUUID: Comparable {
    /// Orders by the 128-bit value.
    public static func < (left: Self, right: Self) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }
}

extension BluetoothUUID: CustomStringConvertible {
    /// The same as ``text``.
    public var description: String { text }
}

extension BluetoothUUID: ExpressibleByStringLiteral {
    /// Creates a UUID from a literal; traps if the literal is not a UUID.
    public init(stringLiteral text: String) {
        guard let uuid = Self(text) else { preconditionFailure("String \(text) does not represent a valid UUID") }
        self = uuid
    }
}

extension BluetoothUUID: Codable {
    /// Reads the format of ``text``.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let uuid = Self(text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "\"\(text)\" is not a UUID")
        }
        self = uuid
    }

    /// Writes ``text``.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
