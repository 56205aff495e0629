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
    var isAvailable: Bool { BluetoothSocket.isAvailable(SOCK_RAW, KernelControllers.hci) }

    func open(_ controller: ControllerID) throws(BackendError) -> CInt {
        try KernelControllers.checkOwn(controller.address, HCIReadRSSI.operation)
        let socket = BluetoothSocket.make(SOCK_RAW, KernelControllers.hci)
        guard socket >= 0 else { throw Self.error(errno) }
        let filter = ControllerStructures.filter
        let address = ControllerStructures.address(of: controller.index)
        let (level, option) = (ControllerStructures.level, ControllerStructures.filterOption)
        guard setsockopt(socket, level, option, filter, socklen_t(filter.count)) == 0,
            BluetoothSocket.withAddress(address, { bind(socket, $0, $1) }) == 0
        else {
            let error = Self.error(errno)
            close(socket)
            throw error
        }
        return socket
    }

    func handle(of peer: L2CAPAddress, on socket: CInt) throws(BackendError) -> UInt16 {
        var request = ControllerStructures.connectionRequest(peer)
        guard ioctl(socket, ControllerStructures.connectionInfoRequest, &request) == 0 else { throw Self.error(errno) }
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
