#if os(Linux)
/// One end of an L2CAP channel, as the kernel wants it: `struct sockaddr_l2`.
///
/// Source: `include/net/bluetooth/l2cap.h` and `bluetooth.h` of Linux.
struct L2CAPAddress: Hashable, Sendable {
    /// `AF_BLUETOOTH`.
    static let family: UInt16 = 31
    /// The size of the structure, its padding included.
    static let size = 14

    /// The channel's number; 0 leaves the choice to the kernel.
    var psm: UInt16
    /// The six bytes of the device address, in the order in which people write them.
    let address: [UInt8]
    /// Whether the address is random; else it is public.
    let isRandom: Bool

    /// An end by the text of its address, such as `00:11:22:33:44:55`.
    init?(_ text: String, isRandom: Bool, psm: UInt16 = 0) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let bytes = parts.compactMap { $0.utf8.count == 2 ? UInt8($0, radix: 16) : nil }
        guard parts.count == 6, bytes.count == 6 else { return nil }
        (self.psm, address, self.isRandom) = (psm, bytes, isRandom)
    }

    /// An end from the kernel's structure; nil where that is another family's, or of classic Bluetooth.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= Self.size - 1, Self.uint16(bytes, at: 0, isLittleEndian: nil) == Self.family,
            let type = LEAddressType(rawValue: bytes[12])
        else { return nil }
        psm = Self.uint16(bytes, at: 2, isLittleEndian: true)
        address = bytes[4..<10].reversed()
        isRandom = type == .random
    }

    /// The kernel's structure.
    var bytes: [UInt8] {
        let type: LEAddressType = isRandom ? .random : .public
        let family = withUnsafeBytes(of: Self.family) { Array($0) }
        return family + [UInt8(truncatingIfNeeded: psm), UInt8(psm >> 8)] + address.reversed()
            // No fixed channel, and a byte of padding.
            + [0, 0, type.rawValue, 0]
    }

    /// The address as BlueZ writes it.
    var text: String {
        address.map { byte in
            let text = String(byte, radix: 16, uppercase: true)
            return text.utf8.count == 1 ? "0" + text : text
        }.joined(separator: ":")
    }

    private enum LEAddressType: UInt8 {
        case `public` = 1
        case random = 2
    }

    /// Two bytes; in the host's order where none is given.
    private static func uint16(_ bytes: [UInt8], at index: Int, isLittleEndian: Bool?) -> UInt16 {
        let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
        return isLittleEndian ?? (UInt16(1).littleEndian == 1) ? first | second << 8 : first << 8 | second
    }
}
#endif
