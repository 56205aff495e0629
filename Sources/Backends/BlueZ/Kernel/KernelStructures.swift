#if os(Linux)
import BluetoothBackend
@_implementationOnly import CBluetoothKernel
import Glibc

// The kernel's structures as bytes, and its numbers. Only this file imports the C module that declares them, and only
// for the implementation: otherwise every module that imports this one would need the C module's flags.

/// Makes the bytes of a C structure, with zeros between its members.
private func makeBytes<Structure: BitwiseCopyable>(
    of type: Structure.Type, _ fill: (inout Structure) -> Void
) -> [UInt8] {
    withUnsafeTemporaryAllocation(
        byteCount: MemoryLayout<Structure>.size, alignment: MemoryLayout<Structure>.alignment
    ) { memory in
        memory.initializeMemory(as: UInt8.self, repeating: 0)
        fill(&memory.bindMemory(to: type)[0])
        return Array(memory)
    }
}

/// Reads a C structure; missing bytes are zeros.
private func read<Structure: BitwiseCopyable>(
    _ type: Structure.Type, from bytes: some Collection<UInt8>
) -> Structure {
    withUnsafeTemporaryAllocation(
        byteCount: MemoryLayout<Structure>.size, alignment: MemoryLayout<Structure>.alignment
    ) { memory in
        memory.initializeMemory(as: UInt8.self, repeating: 0)
        memory.copyBytes(from: bytes.prefix(memory.count))
        return memory.load(as: type)
    }
}

extension bdaddr_t {
    /// Creates an address from its bytes in written order.
    fileprivate init(written bytes: [UInt8]) {
        self = read(bdaddr_t.self, from: bytes.reversed())
    }

    /// The bytes in written order.
    fileprivate var written: [UInt8] { withUnsafeBytes(of: b) { $0.reversed() } }
}

// MARK: Channels

extension L2CAPAddress {
    /// The size of the structure, including its padding.
    static let size = MemoryLayout<sockaddr_l2>.size

    /// Creates an end from `struct sockaddr_l2`; nil for other families and for addresses of classic Bluetooth.
    init?(_ bytes: [UInt8]) {
        // The kernel omits the padding.
        guard bytes.count >= Self.size - 1 else { return nil }
        let end = read(sockaddr_l2.self, from: bytes)
        let isRandom = CInt(end.l2_bdaddr_type) == BDADDR_LE_RANDOM
        guard CInt(end.l2_family) == AF_BLUETOOTH, isRandom || CInt(end.l2_bdaddr_type) == BDADDR_LE_PUBLIC else {
            return nil
        }
        self.init(psm: UInt16(littleEndian: end.l2_psm), address: end.l2_bdaddr.written, isRandom: isRandom)
    }

    /// The address as a `struct sockaddr_l2`, without a fixed channel.
    var bytes: [UInt8] {
        makeBytes(of: sockaddr_l2.self) {
            $0.l2_family = sa_family_t(AF_BLUETOOTH)
            $0.l2_psm = psm.littleEndian
            $0.l2_bdaddr = bdaddr_t(written: address)
            $0.l2_bdaddr_type = UInt8(isRandom ? BDADDR_LE_RANDOM : BDADDR_LE_PUBLIC)
        }
    }
}

extension BluetoothSockets {
    static let l2cap = BTPROTO_L2CAP

    /// The options of a channel's socket.
    enum Option {
        static let level = SOL_BLUETOOTH
        static let sendMTU = BT_SNDMTU
        static let receiveMTU = BT_RCVMTU
    }

    enum Security {
        /// The level with which every channel begins.
        static let low = UInt8(BT_SECURITY_LOW)
        /// The level of an encrypted link.
        static let medium = UInt8(BT_SECURITY_MEDIUM)
    }

    func securityLevel(of socket: CInt) -> UInt8? { option(BT_SECURITY, bt_security(), of: socket)?.level }

    func setSecurityLevel(_ level: UInt8, of socket: CInt) -> Bool {
        // The kernel ignores the key size here.
        set(BT_SECURITY, makeBytes(of: bt_security.self) { $0.level = level }, of: socket)
    }
}

// MARK: Controllers

extension KernelControllers {
    static let hci = BTPROTO_HCI
}

/// The kernel's structures for sockets of controllers, as bytes.
///
/// Pure.
enum ControllerStructures {
    /// The level and the option of a socket's filter.
    static let (level, filterOption) = (SOL_HCI, HCI_FILTER)
    /// The requests of `ioctl(2)`.
    static let listRequest = HCIGETDEVLIST
    static let infoRequest = HCIGETDEVINFO
    static let connectionInfoRequest = HCIGETCONNINFO

    /// Returns a `struct sockaddr_hci`.
    static func address(of adapter: UInt16) -> [UInt8] {
        makeBytes(of: sockaddr_hci.self) {
            $0.hci_family = sa_family_t(AF_BLUETOOTH)
            $0.hci_dev = adapter
            $0.hci_channel = UInt16(HCI_CHANNEL_RAW)
        }
    }

    /// A `struct hci_ufilter` that passes only answers to Read RSSI.
    static var filter: [UInt8] {
        makeBytes(of: hci_ufilter.self) {
            $0.type_mask = 1 << HCIReadRSSI.PacketType.event
            $0.event_mask.0 = 1 << HCIReadRSSI.Event.commandComplete | 1 << HCIReadRSSI.Event.commandStatus
            $0.opcode = HCIReadRSSI.opcode.littleEndian
        }
    }

    /// Returns a `struct hci_conn_info_req` with room for the answer.
    static func connectionRequest(_ peer: L2CAPAddress) -> [UInt8] {
        makeBytes(of: hci_conn_info_req.self) {
            $0.bdaddr = bdaddr_t(written: peer.address)
            $0.type = UInt8(LE_LINK)
        }
    }

    /// Returns the controller's number for the link from a structure that the kernel has filled in.
    static func handle(_ request: [UInt8]) -> UInt16 {
        read(hci_conn_info_req.self, from: request).conn_info.handle
    }

    /// A `struct hci_dev_list_req` with room for the answer.
    static var deviceList: [UInt8] {
        makeBytes(of: hci_dev_list_req.self) { $0.dev_num = UInt16(HCI_MAX_DEV) }
    }

    /// Returns the numbers of the controllers from a structure that the kernel has filled in.
    static func devices(_ list: [UInt8]) -> [UInt16] {
        let list = read(hci_dev_list_req.self, from: list)
        return withUnsafeBytes(of: list.dev_req) {
            $0.bindMemory(to: hci_dev_req.self).prefix(Int(list.dev_num)).map(\.dev_id)
        }
    }

    /// Returns a `struct hci_dev_info` with room for the answer.
    static func deviceInfo(of device: UInt16) -> [UInt8] {
        makeBytes(of: hci_dev_info.self) { $0.dev_id = device }
    }

    /// Returns the public address, in written order, from a structure that the kernel has filled in; zeros if it has no
    /// such address.
    static func publicAddress(_ info: [UInt8]) -> [UInt8] { read(hci_dev_info.self, from: info).bdaddr.written }

    /// Whether an address belongs to a controller with one of these public addresses.
    ///
    /// The kernel does not report a controller's static random address, so any random address may match.
    static func includes(_ address: L2CAPAddress, _ publicAddresses: [[UInt8]]) -> Bool {
        address.isRandom ? !publicAddresses.isEmpty : publicAddresses.contains(address.address)
    }
}
#endif
