#if os(Linux)
import BluetoothBackend
import Glibc

/// The access to controllers without `bluetoothd`: the kernel's, or a test's.
protocol ControllerAccess: Sendable {
    /// Whether this system has such an access.
    var isAvailable: Bool { get }

    /// Opens a socket that accepts commands of the host controller interface and delivers the events that answer Read
    /// RSSI.
    ///
    /// It is non-blocking, with one packet per command or event; the caller closes it.
    func open(_ controller: ControllerID) throws(BackendError) -> CInt

    /// Returns the controller's handle of the link to a peer.
    func handle(of peer: L2CAPAddress, on socket: CInt) throws(BackendError) -> UInt16
}

/// The kernel's raw sockets of controllers.
///
/// Commands that only query need no privilege, and Read RSSI is one of them. The sockets exist only in the initial
/// network namespace: a container needs the host's network.
///
/// Source: `hci_sec_filter` and `hci_sock_bind` in `net/bluetooth/hci_sock.c`, and `include/net/bluetooth/hci_sock.h`, of
/// Linux.
struct ControllerSockets: ControllerAccess {
    /// `SOL_HCI` and its option `HCI_FILTER`.
    private static let level: CInt = 0
    private static let filterOption: CInt = 2
    /// `HCIGETCONNINFO`: `_IOR('H', 213, int)`.
    static let connectionInfo: UInt = 0x8004_48D5

    var isAvailable: Bool { BluetoothSocket.isAvailable(SOCK_RAW, KernelControllers.hci) }

    func open(_ controller: ControllerID) throws(BackendError) -> CInt {
        try KernelControllers.checkOwn(controller.address, HCIReadRSSI.operation)
        let socket = BluetoothSocket.make(SOCK_RAW, KernelControllers.hci)
        guard socket >= 0 else { throw Self.error(errno) }
        let filter = ControllerStructures.filter
        guard setsockopt(socket, Self.level, Self.filterOption, filter, socklen_t(filter.count)) == 0,
            BluetoothSocket.withAddress(ControllerStructures.address(of: controller.index), { bind(socket, $0, $1) })
                == 0
        else {
            let error = Self.error(errno)
            close(socket)
            throw error
        }
        return socket
    }

    func handle(of peer: L2CAPAddress, on socket: CInt) throws(BackendError) -> UInt16 {
        var request = ControllerStructures.connectionRequest(peer)
        guard ioctl(socket, Self.connectionInfo, &request) == 0 else { throw Self.error(errno) }
        return ControllerStructures.handle(request)
    }

    static func error(_ code: CInt) -> BackendError {
        let text = String(cString: strerror(code))
        let operation = HCIReadRSSI.operation
        switch code {
        case EAFNOSUPPORT, EPROTONOSUPPORT, EPERM, EACCES:
            return BackendError(
                .operationNotSupported, operation: operation,
                message: "\(text): there are no controllers' sockets here; a container needs the host's network")
        case ENOENT, ENODEV, ENETDOWN, EPIPE, ECONNRESET:
            return BackendError(.notConnected, operation: operation, message: text)
        case EMFILE, ENFILE, ENOMEM, ENOBUFS: return BackendError(.outOfSpace, operation: operation, message: text)
        default: return BackendError(.unknown, operation: operation, message: text)
        }
    }
}

/// The kernel's structures for sockets of controllers, as bytes.
///
/// Pure. Source: `include/net/bluetooth/hci_sock.h` of Linux.
enum ControllerStructures {
    /// `LE_LINK`.
    private static let lowEnergyLink: UInt8 = 0x80
    /// `HCI_CHANNEL_RAW`.
    private static let rawChannel: UInt16 = 0
    /// The offset of `struct hci_conn_info`, after the address, the type and a byte of padding, and its size.
    private static let connectionOffset = 8
    private static let connectionSize = 16
    /// The number of controllers that the kernel lists (`HCI_MAX_DEV`), and the offset and size of `struct
    /// hci_dev_req`.
    private static let mostDevices = 16
    private static let (deviceOffset, deviceSize) = (4, 8)
    /// The size of `struct hci_dev_info`, and the range of its address.
    private static let (infoSize, infoAddress) = (92, 10..<16)

    /// `struct sockaddr_hci`.
    static func address(of adapter: UInt16) -> [UInt8] {
        [L2CAPAddress.family, adapter, rawChannel].flatMap(bytes)
    }

    /// `struct hci_filter`: only answers to Read RSSI, and two bytes of padding.
    static var filter: [UInt8] {
        let events = UInt32(1) << HCIReadRSSI.Event.commandComplete | 1 << HCIReadRSSI.Event.commandStatus
        return [UInt32(1) << HCIReadRSSI.PacketType.event, events, 0].flatMap(bytes)
            + bytes(HCIReadRSSI.opcode.littleEndian) + [0, 0]
    }

    /// `struct hci_conn_info_req` with room for the answer.
    static func connectionRequest(_ peer: L2CAPAddress) -> [UInt8] {
        peer.address.reversed() + [lowEnergyLink, 0] + [UInt8](repeating: 0, count: connectionSize)
    }

    /// Returns the handle of the link from a request that the kernel has filled in.
    static func handle(_ request: [UInt8]) -> UInt16 {
        request.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: connectionOffset, as: UInt16.self) }
    }

    /// `struct hci_dev_list_req` with room for the answer.
    static var deviceList: [UInt8] {
        bytes(UInt16(mostDevices)) + [UInt8](repeating: 0, count: deviceOffset - 2 + mostDevices * deviceSize)
    }

    /// Returns the numbers of the controllers from a list that the kernel has filled in.
    static func devices(_ list: [UInt8]) -> [UInt16] {
        list.withUnsafeBytes { list in
            let count = min(Int(list.loadUnaligned(as: UInt16.self)), mostDevices)
            return (0..<count).map {
                list.loadUnaligned(fromByteOffset: deviceOffset + $0 * deviceSize, as: UInt16.self)
            }
        }
    }

    /// `struct hci_dev_info` with room for the answer.
    static func deviceInfo(of device: UInt16) -> [UInt8] {
        bytes(device) + [UInt8](repeating: 0, count: infoSize - 2)
    }

    /// Returns the public address that the kernel has filled in, in the order of its text; zeros if it has none.
    static func publicAddress(_ info: [UInt8]) -> [UInt8] { info[infoAddress].reversed() }

    /// Whether an address may belong to a controller with one of these public addresses.
    ///
    /// The kernel does not report a controller's static random address, so any controller may have it.
    static func includes(_ address: L2CAPAddress, _ publicAddresses: [[UInt8]]) -> Bool {
        address.isRandom ? !publicAddresses.isEmpty : publicAddresses.contains(address.address)
    }

    private static func bytes(_ number: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: number) { Array($0) } }
}
#endif
