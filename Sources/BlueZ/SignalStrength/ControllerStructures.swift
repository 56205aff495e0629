#if os(Linux)
/// The kernel's structures for sockets of controllers, as bytes.
///
/// Pure. Source: `include/net/bluetooth/hci_sock.h` of Linux.
enum ControllerStructures {
    /// `LE_LINK`.
    private static let lowEnergyLink: UInt8 = 0x80
    /// `HCI_CHANNEL_RAW`.
    private static let rawChannel: UInt16 = 0
    /// Where `struct hci_conn_info` begins, behind the address, the type and a byte of padding; and its size.
    private static let connectionOffset = 8
    private static let connectionSize = 16

    /// `struct sockaddr_hci`.
    static func address(of adapter: UInt16) -> [UInt8] {
        [L2CAPAddress.family, adapter, rawChannel].flatMap(bytes)
    }

    /// `struct hci_filter`: answers to Read RSSI alone, and a padding of two bytes.
    static var filter: [UInt8] {
        let events = UInt32(1) << HCIReadRSSI.Event.commandComplete | 1 << HCIReadRSSI.Event.commandStatus
        return [UInt32(1) << HCIReadRSSI.PacketType.event, events, 0].flatMap(bytes)
            + bytes(HCIReadRSSI.opcode.littleEndian) + [0, 0]
    }

    /// `struct hci_conn_info_req` with room for the answer.
    static func connectionRequest(_ peer: L2CAPAddress) -> [UInt8] {
        peer.address.reversed() + [lowEnergyLink, 0] + [UInt8](repeating: 0, count: connectionSize)
    }

    /// The controller's number for the link, of what the kernel has filled in.
    static func handle(_ request: [UInt8]) -> UInt16 {
        request.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: connectionOffset, as: UInt16.self) }
    }

    private static func bytes(_ number: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: number) { Array($0) } }
}
#endif
