#if os(Linux)
import BluetoothBackend
import Glibc

/// The source of the sockets of L2CAP channels: the kernel, or a test.
///
/// All sockets are non-blocking and preserve packet boundaries; the caller closes them.
protocol ChannelNetwork: Sendable {
    /// Whether this system has such sockets.
    var isAvailable: Bool { get }

    /// Begins to connect; the socket becomes writable when the attempt ends, successful or not.
    func connect(from local: L2CAPAddress, to peer: L2CAPAddress) throws(BackendError) -> CInt

    /// Returns the error of a finished connect; nil if it succeeded.
    func failure(of socket: CInt) -> BackendError?

    /// Listens; the kernel chooses the PSM.
    func listen(
        at local: L2CAPAddress, isEncryptionRequired: Bool
    ) throws(BackendError) -> (socket: CInt, psm: UInt16)

    /// Accepts the next channel that a peer opened; nil if no channel waits.
    func accept(_ listener: CInt) throws(BackendError) -> (socket: CInt, peer: L2CAPAddress)?

    /// Returns the longest packet that the peer accepts, in bytes.
    func sendLimit(of socket: CInt) -> Int

    /// Returns the fill level of the kernel's send buffer, in any unit; it is empty at the initial level.
    func backlog(of socket: CInt) -> CInt
}

/// The kernel's L2CAP sockets.
///
/// They use the link that `bluetoothd` holds, and need no privilege. They exist only in the initial network namespace:
/// a container needs the host's network.
///
/// Source: `net/bluetooth/l2cap_sock.c` of Linux.
struct BluetoothSockets: ChannelNetwork {
    /// The longest packet that this side accepts, in bytes.
    ///
    /// The kernel gives the peer as many credits as one such packet needs, so a higher limit makes a faster channel.
    static let receiveLimit: UInt16 = 16384
    /// The packet length that every peer must accept, in bytes.
    ///
    /// Source: Core Specification, Vol 3, Part A, 4.22.
    private static let leastSendLimit = 23
    /// The number of channels that may wait to be accepted.
    private static let queueLength: CInt = 8

    var isAvailable: Bool { BluetoothSocket.isAvailable(SOCK_SEQPACKET, Self.l2cap) }

    func connect(from local: L2CAPAddress, to peer: L2CAPAddress) throws(BackendError) -> CInt {
        try open(at: local, "open channel \(peer.psm)") { socket in
            let result = BluetoothSocket.withAddress(peer.bytes) { Glibc.connect(socket, $0, $1) }
            return result == 0 || errno == EINPROGRESS
        }
    }

    func failure(of socket: CInt) -> BackendError? {
        guard let code = option(SO_ERROR, CInt(0), level: SOL_SOCKET, of: socket) else {
            return BackendError.socket(errno, "open channel")
        }
        guard code != 0 else { return nil }
        // The kernel raises the level if the peer demands more, pairs, and gives up if pairing fails.
        let isSecurityMissing = (securityLevel(of: socket) ?? 0) > Security.low
        return BackendError.socket(code, "open channel", isSecurityMissing: isSecurityMissing)
    }

    func listen(
        at local: L2CAPAddress, isEncryptionRequired: Bool
    ) throws(BackendError) -> (socket: CInt, psm: UInt16) {
        let socket = try open(at: local, "publish channel") { socket in
            if isEncryptionRequired, !setSecurityLevel(Security.medium, of: socket) { return false }
            return Glibc.listen(socket, Self.queueLength) == 0
        }
        guard let bound = L2CAPAddress.read({ getsockname(socket, $0, $1) }) else {
            close(socket)
            throw BackendError(.unknown, operation: "publish channel", message: "the kernel reports no PSM")
        }
        return (socket, bound.psm)
    }

    func accept(_ listener: CInt) throws(BackendError) -> (socket: CInt, peer: L2CAPAddress)? {
        var socket: CInt = -1
        let peer = L2CAPAddress.read { address, length in
            socket = Glibc.accept(listener, address, length)
            return socket
        }
        guard socket >= 0 else {
            // The waiting channel may have been closed.
            if [EAGAIN, EINTR, ECONNABORTED].contains(errno) { return nil }
            throw BackendError.socket(errno, "accept channel")
        }
        guard let peer, fcntl(socket, F_SETFD, FD_CLOEXEC) == 0 else {
            close(socket)
            return nil
        }
        return (socket, peer)
    }

    func sendLimit(of socket: CInt) -> Int {
        max(Int(option(Option.sendMTU, UInt16(0), of: socket) ?? 0), Self.leastSendLimit)
    }

    func backlog(of socket: CInt) -> CInt {
        var amount: CInt = 0
        return ioctl(socket, UInt(TIOCOUTQ), &amount) == 0 ? amount : 0
    }

    // MARK: Options

    /// Opens a socket at a local address and passes it to `body`; closes it if that fails.
    private func open(
        at local: L2CAPAddress, _ operation: String, _ body: (CInt) -> Bool
    ) throws(BackendError) -> CInt {
        try KernelControllers.checkOwn(local, operation)
        let socket = BluetoothSocket.make(SOCK_SEQPACKET, Self.l2cap)
        guard socket >= 0 else { throw BackendError.socket(errno, operation) }
        let limit = withUnsafeBytes(of: Self.receiveLimit) { Array($0) }
        let isBound = BluetoothSocket.withAddress(local.bytes) { bind(socket, $0, $1) } == 0
        guard isBound, set(Option.receiveMTU, limit, of: socket), body(socket) else {
            let error = BackendError.socket(errno, operation)
            close(socket)
            throw error
        }
        return socket
    }

    func set(_ option: CInt, _ value: [UInt8], of socket: CInt) -> Bool {
        setsockopt(socket, Option.level, option, value, socklen_t(value.count)) == 0
    }

    /// - Returns: The value of an option; nil if the kernel refuses it.
    func option<Value: BitwiseCopyable>(
        _ option: CInt, _ initial: Value, level: CInt = Option.level, of socket: CInt
    ) -> Value? {
        var value = initial
        var length = socklen_t(MemoryLayout<Value>.size)
        return getsockopt(socket, level, option, &value, &length) == 0 ? value : nil
    }
}

extension L2CAPAddress {
    /// Returns the address that a kernel function fills in.
    fileprivate static func read(
        _ body: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> CInt
    ) -> L2CAPAddress? {
        var storage = sockaddr()
        var length = socklen_t(MemoryLayout<sockaddr>.size)
        guard body(&storage, &length) >= 0 else { return nil }
        let count = min(Int(length), MemoryLayout<sockaddr>.size)
        return L2CAPAddress(withUnsafeBytes(of: storage) { Array($0.prefix(count)) })
    }
}

/// Non-blocking sockets of the family `AF_BLUETOOTH`.
enum BluetoothSocket {
    static func make(_ type: __socket_type, _ protocolNumber: CInt) -> CInt {
        let flags = SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        return socket(AF_BLUETOOTH, CInt(type.rawValue | flags), protocolNumber)
    }

    /// Whether this system has such sockets.
    static func isAvailable(_ type: __socket_type, _ protocolNumber: CInt) -> Bool {
        let socket = make(type, protocolNumber)
        guard socket >= 0 else { return false }
        close(socket)
        return true
    }

    /// Passes an address, as bytes, to a kernel function.
    static func withAddress(_ bytes: [UInt8], _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt) -> CInt {
        // Sixteen aligned bytes, of which the first `bytes.count` are used.
        var storage = sockaddr()
        return withUnsafeMutablePointer(to: &storage) { pointer in
            UnsafeMutableRawPointer(pointer).copyMemory(from: bytes, byteCount: bytes.count)
            return body(pointer, socklen_t(bytes.count))
        }
    }
}

extension BackendError {
    /// Returns the error that an error number of an L2CAP socket means.
    ///
    /// - Parameter isSecurityMissing: Whether the peer demanded encryption or authentication before.
    static func socket(_ code: CInt, _ operation: String, isSecurityMissing: Bool = false) -> BackendError {
        let text = String(cString: strerror(code))
        func error(_ code: BackendError.Code, _ hint: String? = nil) -> BackendError {
            BackendError(code, operation: operation, message: hint.map { "\(text): \($0)" } ?? text)
        }
        switch code {
        case EAFNOSUPPORT, EPROTONOSUPPORT, EPERM:
            return error(
                .operationNotSupported, "there are no Bluetooth sockets here; a container needs the host's network")
        case _ where isSecurityMissing: return .att(0x05, operation: operation, message: text)
        case EACCES, EKEYREJECTED: return .att(0x05, operation: operation, message: text)
        case ECONNREFUSED: return error(.operationNotSupported, "the peer has no channel of this number")
        case ETIMEDOUT: return error(.connectionTimeout)
        case ENOTCONN, ECONNRESET, ECONNABORTED, EPIPE, EHOSTDOWN, EHOSTUNREACH, ENODEV, ENETDOWN:
            return error(.notConnected)
        case ENOMEM, ENOBUFS, EMFILE, ENFILE, EADDRINUSE: return error(.outOfSpace)
        case EINVAL, EADDRNOTAVAIL: return error(.invalidParameters)
        default: return error(.unknown)
        }
    }
}
#endif
