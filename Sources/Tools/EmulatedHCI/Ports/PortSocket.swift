#if os(Linux)
import Glibc

/// The descriptor of an open port: a listening socket, or a pseudo terminal.
struct PortSocket {
    let descriptor: CInt
    let address: HCIPortAddress
    /// The path of a pseudo terminal.
    private(set) var terminal: String?
    /// The other end of the terminal, kept open so that the terminal stays while no program has it open.
    private(set) var otherEnd: CInt?

    var isListening: Bool { terminal == nil }

    init(_ address: HCIPortAddress) throws(HCIPortError) {
        switch address {
        case .tcp(let port): (descriptor, self.address) = try Self.listen(address, port: port)
        case .unix(let path): (descriptor, self.address) = (try Self.listen(address, path: path), address)
        case .pty:
            guard let opened = PseudoTerminal() else { throw .unavailable(address, Self.reason) }
            (descriptor, self.address) = (opened.descriptor, address)
            (terminal, otherEnd) = (opened.path, opened.otherEnd)
        }
        let flags = fcntl(descriptor, F_GETFL)
        _ = fcntl(descriptor, F_SETFL, flags | O_NONBLOCK)
    }

    /// Closes the descriptors, and removes the socket file.
    func close() {
        Glibc.close(descriptor)
        if let otherEnd { Glibc.close(otherEnd) }
        if case .unix(let path) = address { unlink(path) }
    }

    private static var reason: String { String(cString: strerror(errno)) }

    private static func listen(
        _ address: HCIPortAddress, port: UInt16
    ) throws(HCIPortError) -> (CInt, HCIPortAddress) {
        let listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        guard listener >= 0 else { throw .unavailable(address, reason) }
        var one: CInt = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<CInt>.size))
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = port.bigEndian
        name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isOpen = withUnsafeMutablePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
                bind(listener, name, length) == 0 && Glibc.listen(listener, 1) == 0
                    && getsockname(listener, name, &length) == 0
            }
        }
        guard isOpen else {
            let error = HCIPortError.unavailable(address, reason)
            Glibc.close(listener)
            throw error
        }
        return (listener, .tcp(port: UInt16(bigEndian: name.sin_port)))
    }

    private static func listen(_ address: HCIPortAddress, path: String) throws(HCIPortError) -> CInt {
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        let room = MemoryLayout.size(ofValue: name.sun_path)
        guard path.utf8.count < room else { throw .unavailable(address, "the path is too long") }
        withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: path.utf8) }
        let listener = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        guard listener >= 0 else { throw .unavailable(address, reason) }
        // Only the owner may connect, and no program can before the socket listens.
        let isOpen = withUnsafePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0 && chmod(path, 0o600) == 0
                    && Glibc.listen(listener, 1) == 0
            }
        }
        guard isOpen else {
            let error = HCIPortError.unavailable(address, reason)
            Glibc.close(listener)
            throw error
        }
        return listener
    }
}
#endif
