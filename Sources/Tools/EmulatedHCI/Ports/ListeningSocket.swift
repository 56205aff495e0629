#if os(Linux)
import BluetoothEmulator
import BluetoothSupport
import Glibc

/// A socket at which hosts connect: TCP on the loopback interface, or a socket file that its owner alone may use.
struct ListeningSocket: PortTransport {
    let address: HCIPortAddress
    private let descriptor: CInt

    var place: String { address.description }
    var listener: CInt? { descriptor }

    init(_ address: HCIPortAddress) throws(HCIPortError) {
        let isFile = if case .unix = address { true } else { false }
        let descriptor = socket(isFile ? AF_UNIX : AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw .unavailable(address, systemReason) }
        descriptor.makeNonBlocking()
        do throws(HCIPortError) {
            switch address {
            case .unix(let path):
                try Self.listen(descriptor, address, path: path)
                self.address = address
            case .tcp(let port): self.address = .tcp(port: try Self.listen(descriptor, address, port: port))
            default: throw .unavailable(address, "it is no socket")
            }
        } catch {
            Glibc.close(descriptor)
            throw error
        }
        self.descriptor = descriptor
    }

    /// Accepts the host that waits.
    func open() -> PortStream? {
        let accepted = accept(descriptor, nil, nil)
        guard accepted >= 0 else { return nil }
        _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
        accepted.makeNonBlocking()
        var one: CInt = 1
        setsockopt(accepted, CInt(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<CInt>.size))
        return PortStream(descriptor: accepted)
    }

    /// Closes the socket, and removes its file.
    func close() {
        Glibc.close(descriptor)
        if case .unix(let path) = address { unlink(path) }
    }

    /// - Returns: The port, which the system chose if it was 0.
    private static func listen(
        _ descriptor: CInt, _ address: HCIPortAddress, port: UInt16
    ) throws(HCIPortError) -> UInt16 {
        var one: CInt = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<CInt>.size))
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = port.bigEndian
        name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isOpen = withUnsafeMutablePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
                bind(descriptor, name, length) == 0 && Glibc.listen(descriptor, 1) == 0
                    && getsockname(descriptor, name, &length) == 0
            }
        }
        guard isOpen else { throw .unavailable(address, systemReason) }
        return UInt16(bigEndian: name.sin_port)
    }

    private static func listen(
        _ descriptor: CInt, _ address: HCIPortAddress, path: String
    ) throws(HCIPortError) {
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        guard path.utf8.count < MemoryLayout.size(ofValue: name.sun_path) else {
            throw .unavailable(address, "the path is too long")
        }
        withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: path.utf8) }
        let length = socklen_t(MemoryLayout<sockaddr_un>.size)
        // Only the owner may connect, and no program can before the socket listens.
        let isOpen = withUnsafePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
                var isBound = bind(descriptor, name, length) == 0
                if !isBound, errno == EADDRINUSE {
                    isBound = removeLeftover(path, name, length) && bind(descriptor, name, length) == 0
                }
                return isBound && chmod(path, 0o600) == 0 && Glibc.listen(descriptor, 1) == 0
            }
        }
        guard isOpen else { throw .unavailable(address, systemReason) }
    }

    /// Removes the socket file of a process that was killed: an own one without a listener.
    ///
    /// - Returns: Whether there was one; if not, `errno` says that the address is in use.
    private static func removeLeftover(_ path: String, _ name: UnsafePointer<sockaddr>, _ length: socklen_t) -> Bool {
        defer { errno = EADDRINUSE }
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK, status.st_uid == geteuid() else {
            return false
        }
        let types = [SOCK_STREAM, SOCK_CLOEXEC, SOCK_NONBLOCK].reduce(CInt(0)) { $0 | CInt($1.rawValue) }
        let probe = socket(AF_UNIX, types, 0)
        guard probe >= 0 else { return false }
        defer { Glibc.close(probe) }
        return connect(probe, name, length) != 0 && errno == ECONNREFUSED && unlink(path) == 0
    }
}
#endif
