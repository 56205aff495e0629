#if os(Linux)
import BluetoothBackend
import Glibc

/// The way to a controller past `bluetoothd`: the kernel's, or a test's.
protocol ControllerAccess: Sendable {
    /// Whether there is such a way here at all.
    var isAvailable: Bool { get }

    /// A socket that takes commands of the host controller interface and gives the events that answer Read RSSI.
    ///
    /// Non-blocking, a packet each; the caller's to close.
    func open(_ adapter: UInt16) throws(BackendError) -> CInt

    /// The controller's number for the link to a peer.
    func handle(of peer: L2CAPAddress, on socket: CInt) throws(BackendError) -> UInt16
}

/// The kernel's raw sockets of controllers.
///
/// The few commands that only ask need no privilege, and Read RSSI is one of them. They exist in the first network
/// namespace alone: a container needs the host's network.
///
/// Source: `hci_sec_filter` and `hci_sock_bind` in `net/bluetooth/hci_sock.c`, and `include/net/bluetooth/hci_sock.h`, of
/// Linux.
struct ControllerSockets: ControllerAccess {
    /// `BTPROTO_HCI`.
    private static let hci: CInt = 1
    /// `SOL_HCI` and its option `HCI_FILTER`.
    private static let level: CInt = 0
    private static let filterOption: CInt = 2
    /// `HCIGETCONNINFO`: `_IOR('H', 213, int)`.
    private static let connectionInfo: UInt = 0x8004_48D5

    var isAvailable: Bool { BluetoothSocket.isAvailable(SOCK_RAW, Self.hci) }

    func open(_ adapter: UInt16) throws(BackendError) -> CInt {
        let socket = BluetoothSocket.make(SOCK_RAW, Self.hci)
        guard socket >= 0 else { throw Self.error(errno) }
        let filter = ControllerStructures.filter
        guard setsockopt(socket, Self.level, Self.filterOption, filter, socklen_t(filter.count)) == 0,
            BluetoothSocket.withAddress(ControllerStructures.address(of: adapter), { bind(socket, $0, $1) }) == 0
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
#endif
