#if os(Linux)
import BluetoothSupport
import FoundationEssentials

/// One end of an L2CAP channel.
struct L2CAPAddress: Hashable, Sendable {
    /// The PSM; 0 lets the kernel choose.
    var psm: UInt16
    /// The six bytes of the device address, in the order of its text.
    let address: [UInt8]
    /// Whether the address is random; otherwise it is public.
    let isRandom: Bool
}

extension L2CAPAddress {
    /// Creates an end from the text of its address, such as `00:11:22:33:44:55`.
    init?(_ text: String, isRandom: Bool, psm: UInt16 = 0) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let bytes = parts.compactMap { $0.utf8.count == 2 ? UInt8($0, radix: 16) : nil }
        guard parts.count == 6, bytes.count == 6 else { return nil }
        self.init(psm: psm, address: bytes, isRandom: isRandom)
    }

    /// The address in BlueZ's notation.
    var text: String {
        address.map { Data([$0]).hexText }.joined(separator: ":")
    }
}
#endif
