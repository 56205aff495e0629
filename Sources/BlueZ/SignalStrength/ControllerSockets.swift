#if os(Linux)
import BluetoothBackend
import Glibc

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

    var isAvailable: Bool {
        let socket = Self.socket()
        guard socket >= 0 else { return false }
        close(socket)
        return true
    }

    private static func socket() -> CInt {
        let type = SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        return Glibc.socket(CInt(L2CAPAddress.family), CInt(type), hci)
    }

    func open(_ adapter: UInt16) throws(BackendError) -> CInt {
        let socket = Self.socket()
        guard socket >= 0 else { throw Self.error(errno) }
        let filter = ControllerStructures.filter
        guard setsockopt(socket, Self.level, Self.filterOption, filter, socklen_t(filter.count)) == 0,
            bind(socket, to: ControllerStructures.address(of: adapter)) == 0
        else {
            let error = Self.error(errno)
            close(socket)
            throw error
        }
        return socket
    }

    private func bind(_ socket: CInt, to address: [UInt8]) -> CInt {
        // Sixteen bytes, aligned, of which six count.
        var storage = sockaddr()
        return withUnsafeMutablePointer(to: &storage) { pointer in
            UnsafeMutableRawPointer(pointer).copyMemory(from: address, byteCount: address.count)
            return Glibc.bind(socket, pointer, socklen_t(address.count))
        }
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
