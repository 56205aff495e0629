#if os(Linux)
import BluetoothBackend
import Glibc

/// Where the sockets of L2CAP channels come from: the kernel, or a test.
///
/// All sockets are non-blocking, keep the bounds of packets, and are the caller's to close.
protocol ChannelNetwork: Sendable {
    /// Whether there are such sockets here at all.
    var isAvailable: Bool { get }

    /// Begins to connect; the socket becomes writable when that is over, well or not.
    func connect(from local: L2CAPAddress, to peer: L2CAPAddress) throws(BackendError) -> CInt

    /// Why a connect failed that is over; nil where it did not.
    func failure(of socket: CInt) -> BackendError?

    /// Listens; the channel's number is the kernel's choice.
    func listen(
        at local: L2CAPAddress, isEncryptionRequired: Bool
    ) throws(BackendError) -> (socket: CInt, psm: UInt16)

    /// Takes the next channel that a peer opened; nil where none waits.
    func accept(_ listener: CInt) throws(BackendError) -> (socket: CInt, peer: L2CAPAddress)?

    /// The longest packet that the peer takes, in bytes.
    func sendLimit(of socket: CInt) -> Int

    /// How full the kernel's buffer for sending is, in whatever unit: it is empty when it says what it said at first.
    func backlog(of socket: CInt) -> CInt
}

/// The kernel's L2CAP sockets.
///
/// They use the link that `bluetoothd` holds, and need no privilege. They exist in the first network namespace alone: a
/// container needs the host's network.
///
/// Source: `net/bluetooth/l2cap_sock.c` of Linux.
struct BluetoothSockets: ChannelNetwork {
    /// `SOL_BLUETOOTH` and its options, of `include/net/bluetooth/bluetooth.h`.
    enum Option {
        static let level: CInt = 274
        static let security: CInt = 4
        static let sendMTU: CInt = 12
        static let receiveMTU: CInt = 13
    }

    /// `BTPROTO_L2CAP`.
    private static let l2cap: CInt = 0
    /// `BT_SECURITY_LOW`, with which every channel begins.
    private static let lowSecurity: UInt8 = 1
    /// `BT_SECURITY_MEDIUM`: encrypted.
    private static let mediumSecurity: UInt8 = 2
    /// The longest packet that we take, in bytes.
    ///
    /// The kernel gives the peer as many credits as one such packet needs, so a longer one is a faster channel.
    static let receiveLimit: UInt16 = 16384
    /// The shortest that every peer must take, in bytes.
    ///
    /// Source: Core Specification, Vol 3, Part A, 4.22.
    private static let leastSendLimit = 23
    /// How many channels may wait to be taken.
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
        // The kernel raises the level when the peer asks for more, pairs, and gives up if that fails.
        let security = option(Option.security, (level: UInt8(0), keySize: UInt8(0)), of: socket)
        let isSecurityMissing = (security?.level ?? 0) > Self.lowSecurity
        return BackendError.socket(code, "open channel", isSecurityMissing: isSecurityMissing)
    }

    func listen(
        at local: L2CAPAddress, isEncryptionRequired: Bool
    ) throws(BackendError) -> (socket: CInt, psm: UInt16) {
        let socket = try open(at: local, "publish channel") { socket in
            if isEncryptionRequired {
                // `struct bt_security`: the level, and a key size that the kernel ignores here.
                guard set(Option.security, [Self.mediumSecurity, 0], of: socket) else { return false }
            }
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
            // The one that waited may have gone.
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

    /// A socket at an address of ours, with what `body` does to it; closed where that fails.
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

    private func set(_ option: CInt, _ value: [UInt8], of socket: CInt) -> Bool {
        setsockopt(socket, Option.level, option, value, socklen_t(value.count)) == 0
    }

    /// - Returns: The value of an option; nil where the kernel refuses it.
    private func option<Value: BitwiseCopyable>(
        _ option: CInt, _ initial: Value, level: CInt = Option.level, of socket: CInt
    ) -> Value? {
        var value = initial
        var length = socklen_t(MemoryLayout<Value>.size)
        return getsockopt(socket, level, option, &value, &length) == 0 ? value : nil
    }
}

extension L2CAPAddress {
    /// The address that a function of the kernel's fills in.
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

/// Sockets of the family `AF_BLUETOOTH`, non-blocking.
enum BluetoothSocket {
    static func make(_ type: __socket_type, _ protocolNumber: CInt) -> CInt {
        let flags = SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        return socket(CInt(L2CAPAddress.family), CInt(type.rawValue | flags), protocolNumber)
    }

    /// Whether there are such sockets here at all.
    static func isAvailable(_ type: __socket_type, _ protocolNumber: CInt) -> Bool {
        let socket = make(type, protocolNumber)
        guard socket >= 0 else { return false }
        close(socket)
        return true
    }

    /// Passes an address, as bytes, to a function of the kernel's.
    static func withAddress(_ bytes: [UInt8], _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt) -> CInt {
        // Sixteen bytes, aligned, of which the first count.
        var storage = sockaddr()
        return withUnsafeMutablePointer(to: &storage) { pointer in
            UnsafeMutableRawPointer(pointer).copyMemory(from: bytes, byteCount: bytes.count)
            return body(pointer, socklen_t(bytes.count))
        }
    }
}

extension BackendError {
    /// The meaning of an error number of an L2CAP socket.
    ///
    /// - Parameter isSecurityMissing: Whether the peer had asked for encryption or authentication before.
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
