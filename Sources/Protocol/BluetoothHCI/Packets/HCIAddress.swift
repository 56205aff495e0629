/// A device address with its type.
///
/// Source: Core Specification, Vol 6, Part B, 1.3; Vol 4, Part E, 5.2 for the order of its bytes.
package struct HCIAddress: Hashable, Sendable {
    /// Most significant byte first: 0...0xFFFF_FFFF_FFFF.
    package let bits: UInt64
    package let isRandom: Bool

    package init(bits: UInt64, isRandom: Bool) { (self.bits, self.isRandom) = (bits, isRandom) }

    /// Reads six bytes, least significant first.
    ///
    /// - Returns: nil if there are fewer bytes.
    package init?(_ cursor: inout ByteCursor, isRandom: Bool) {
        guard let bytes = cursor.next(6) else { return nil }
        self.init(bits: bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }, isRandom: isRandom)
    }

    /// Six bytes, least significant first.
    package var bytes: [UInt8] { (0..<6).map { UInt8(truncatingIfNeeded: bits >> (8 * $0)) } }

    /// The type in a parameter: public 0, random 1, and 2 or 3 for an identity address to which the controller resolved a
    /// private one.
    func type(isIdentity: Bool = false) -> UInt8 { (isRandom ? 1 : 0) | (isIdentity ? 2 : 0) }

    /// The address as six groups of two uppercase digits.
    package var text: String {
        bytes.reversed().map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined(separator: ":")
    }
}
