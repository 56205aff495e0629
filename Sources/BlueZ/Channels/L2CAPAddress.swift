#if os(Linux)
import BluetoothSupport
import FoundationEssentials

/// One end of an L2CAP channel, in the kernel's form: `struct sockaddr_l2`.
///
/// Source: `include/net/bluetooth/l2cap.h` and `bluetooth.h` of Linux.
struct L2CAPAddress: Hashable, Sendable {
    /// `AF_BLUETOOTH`.
    static let family: UInt16 = 31
    /// The size of the structure, including its padding.
    static let size = 14

    /// The PSM; 0 lets the kernel choose.
    var psm: UInt16
    /// The six bytes of the device address, in the order of its text.
    let address: [UInt8]
    /// Whether the address is random; otherwise it is public.
    let isRandom: Bool

    /// Creates an end from the text of its address, such as `00:11:22:33:44:55`.
    init?(_ text: String, isRandom: Bool, psm: UInt16 = 0) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let bytes = parts.compactMap { $0.utf8.count == 2 ? UInt8($0, radix: 16) : nil }
        guard parts.count == 6, bytes.count == 6 else { return nil }
        (self.psm, address, self.isRandom) = (psm, bytes, isRandom)
    }

    /// Creates an end from the kernel's structure; nil if it belongs to another family or to classic Bluetooth.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= Self.size - 1, let type = LEAddressType(rawValue: bytes[12]),
            bytes.withUnsafeBytes({ $0.loadUnaligned(as: UInt16.self) }) == Self.family
        else { return nil }
        psm = UInt16(bytes[2]) | UInt16(bytes[3]) << 8
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

    /// The address in BlueZ's notation.
    var text: String {
        address.map { Data([$0]).hexText }.joined(separator: ":")
    }

    private enum LEAddressType: UInt8 {
        case `public` = 1
        case random = 2
    }
}
#endif
