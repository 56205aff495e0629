#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A Bluetooth UUID of 16, 32 or 128 bits.
///
/// Equality and hashing are those of the 128-bit form over the Bluetooth Base UUID; the width in which it was
/// written is kept for printing and for the air. Source: Core Specification, Vol 3, Part B, 2.5.1.
public struct BluetoothUUID: Sendable {
    /// How many bits were written.
    public enum Width: UInt8, Sendable, Codable {
        /// Two bytes.
        case bits16 = 2
        /// Four bytes.
        case bits32 = 4
        /// Sixteen bytes.
        case bits128 = 16
    }

    private static let base: UInt128 = 0x0000_0000_0000_1000_8000_0080_5F9B_34FB

    /// The 128-bit value.
    public let value: UInt128
    /// The width in which it was written.
    public let width: Width

    /// A 16-bit UUID assigned by the Bluetooth SIG.
    public init(_ short: UInt16) {
        value = Self.base | UInt128(short) << 96
        width = .bits16
    }

    /// A 32-bit UUID assigned by the Bluetooth SIG.
    public init(bits32 short: UInt32) {
        value = Self.base | UInt128(short) << 96
        width = .bits32
    }

    /// A 128-bit UUID.
    public init(value: UInt128) {
        self.value = value
        width = .bits128
    }

    /// Reads 4 or 8 hexadecimal digits, with or without `0x`, or the 8-4-4-4-12 form, in either letter case.
    ///
    /// - Returns: nil for anything else.
    public init?(_ text: some StringProtocol) {
        let digits = text.hasPrefix("0x") || text.hasPrefix("0X") ? text.dropFirst(2) : text[...]
        guard digits.utf8.allSatisfy({ $0.isHexDigit || $0 == UInt8(ascii: "-") }) else { return nil }
        switch digits.utf8.count {
        case 4:
            guard let short = UInt16(digits, radix: 16), !digits.contains("-") else { return nil }
            self.init(short)
        case 8:
            guard let short = UInt32(digits, radix: 16), !digits.contains("-") else { return nil }
            self.init(bits32: short)
        case 36:
            guard digits.count == text.count else { return nil }
            let groups = digits.split(separator: "-", omittingEmptySubsequences: false)
            guard groups.map(\.utf8.count) == [8, 4, 4, 4, 12],
                let value = UInt128(groups.joined(), radix: 16)
            else { return nil }
            self.init(value: value)
        default:
            return nil
        }
    }

    /// Reads 2, 4 or 16 bytes, most significant first.
    ///
    /// - Returns: nil for any other count.
    public init?(bigEndian bytes: some Collection<UInt8>) {
        switch bytes.count {
        case 2: self.init(bytes.reduce(UInt16(0)) { $0 << 8 | UInt16($1) })
        case 4: self.init(bits32: bytes.reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
        case 16: self.init(value: bytes.reduce(UInt128(0)) { $0 << 8 | UInt128($1) })
        default: return nil
        }
    }

    /// A 128-bit UUID in UUID byte order.
    public init(_ uuid: UUID) {
        self.init(value: withUnsafeBytes(of: uuid.uuid) { $0.reduce(UInt128(0)) { $0 << 8 | UInt128($1) } })
    }

    /// 2, 4 or 16 bytes, most significant first.
    public var bigEndianBytes: [UInt8] {
        let count = Int(width.rawValue)
        let bits = width == .bits128 ? value : value >> 96
        return (0..<count).map { UInt8(truncatingIfNeeded: bits >> (8 * (count - 1 - $0))) }
    }

    /// Upper-case digits in the width in which it was written: 4, 8 or 36 characters.
    public var text: String {
        let digits = bigEndianBytes.map { Self.hex[Int($0)] }
        guard width == .bits128 else { return digits.joined() }
        return [0..<4, 4..<6, 6..<8, 8..<10, 10..<16].map { digits[$0].joined() }.joined(separator: "-")
    }

    /// The 16-bit form, if this is one in any width.
    public var bits16: UInt16? {
        let short = value >> 96
        return value == Self.base | short << 96 && short <= 0xFFFF ? UInt16(short) : nil
    }

    private static let hex: [String] = (0...255).map { byte in
        let digits = String(byte, radix: 16, uppercase: true)
        return byte < 16 ? "0" + digits : digits
    }
}

extension BluetoothUUID: Hashable {
    /// Whether both mean the same 128-bit UUID.
    public static func == (left: Self, right: Self) -> Bool { left.value == right.value }
    /// Hashes the 128-bit UUID.
    public func hash(into hasher: inout Hasher) { hasher.combine(value) }
}

extension BluetoothUUID: Comparable {
    /// Orders by the 128-bit value.
    public static func < (left: Self, right: Self) -> Bool { left.value < right.value }
}

extension BluetoothUUID: CustomStringConvertible {
    /// The same as ``text``.
    public var description: String { text }
}

extension BluetoothUUID: ExpressibleByStringLiteral {
    /// A UUID in source code; traps when the literal is none.
    public init(stringLiteral text: String) {
        guard let uuid = Self(text) else { preconditionFailure("String \(text) does not represent a valid UUID") }
        self = uuid
    }
}

extension BluetoothUUID: Codable {
    /// Reads the form that ``text`` has.
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

extension UInt8 {
    fileprivate var isHexDigit: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }
}
