/// A Bluetooth device address of 48 bits.
///
/// Source: Core Specification, Vol 6, Part B, 1.3.
public struct DeviceAddress: Hashable, Sendable, Comparable {
    /// The address, most significant byte first: 0...0xFFFF_FFFF_FFFF.
    public let bits: UInt64

    /// Takes the low 48 bits.
    public init(bits: UInt64) { self.bits = bits & 0xFFFF_FFFF_FFFF }

    /// Reads `F0:F1:F2:F3:F4:F5`, in either letter case.
    ///
    /// - Returns: nil for anything else.
    public init?(_ text: String) {
        let groups = text.split(separator: ":", omittingEmptySubsequences: false)
        guard groups.count == 6 else { return nil }
        var bits: UInt64 = 0
        for group in groups {
            guard group.utf8.count == 2, !group.hasPrefix("+"), let byte = UInt8(group, radix: 16) else { return nil }
            bits = bits << 8 | UInt64(byte)
        }
        self.bits = bits
    }

    /// Orders by value.
    public static func < (left: Self, right: Self) -> Bool { left.bits < right.bits }
}

extension DeviceAddress: CustomStringConvertible {
    /// Six groups of two upper-case digits.
    public var description: String {
        (0..<6).reversed().map { index in
            let byte = String(UInt8(truncatingIfNeeded: bits >> (8 * UInt64(index))), radix: 16, uppercase: true)
            return byte.count == 1 ? "0" + byte : byte
        }.joined(separator: ":")
    }
}

extension DeviceAddress: ExpressibleByStringLiteral {
    /// An address in source code; traps when the literal is none.
    public init(stringLiteral text: String) {
        guard let address = Self(text) else { preconditionFailure("\"\(text)\" is not a Bluetooth address") }
        self = address
    }
}
