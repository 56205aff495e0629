/// The place where a host outside of the emulator finds its controller.
public enum HCIPortAddress: Hashable, Sendable, CustomStringConvertible {
    /// A TCP port of the loopback interface; 0 lets the system choose.
    case tcp(port: UInt16)
    /// A socket file, which only its owner may use.
    case unix(path: String)
    /// A pseudo terminal, as a serial line.
    case pty
    /// A controller of this machine's own kernel, whose module `hci_vhci` must be loaded; for root.
    case vhci
    /// A USB dongle of this machine's own kernel, whose modules `vhci_hcd` and `btusb` must be loaded; for root.
    case usb

    /// Parses `tcp:127.0.0.1:9033`, `tcp:9033`, `unix:/run/user/1000/hci`, `pty`, `vhci`, or `usb`.
    ///
    /// - Throws: ``HCIPortError/invalidAddress(_:)``; a TCP address outside of loopback is invalid, because whoever reaches
    ///   the port controls the host.
    public init(_ text: String) throws(HCIPortError) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        switch (parts[0], parts.dropFirst().first) {
        case ("pty", nil): self = .pty
        case ("vhci", nil): self = .vhci
        case ("usb", nil): self = .usb
        case ("unix", let path?) where !path.isEmpty: self = .unix(path: path)
        case ("tcp", let rest?):
            let fields = rest.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
            guard let last = fields.last, last.allSatisfy(\.isNumber), let port = UInt16(last), fields.count <= 2,
                fields.count == 1 || ["127.0.0.1", "localhost"].contains(fields[0])
            else { throw .invalidAddress(text) }
            self = .tcp(port: port)
        default: throw .invalidAddress(text)
        }
    }

    /// The address as text, as the initializer reads it.
    public var description: String {
        switch self {
        case .tcp(let port): "tcp:127.0.0.1:\(port)"
        case .unix(let path): "unix:\(path)"
        case .pty: "pty"
        case .vhci: "vhci"
        case .usb: "usb"
        }
    }
}

/// The reason why a port is not opened.
public enum HCIPortError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The text is not the address of a port.
    case invalidAddress(String)
    /// The system refuses the port: another program has it, or the folder does not exist.
    case unavailable(HCIPortAddress, String)
    /// The world's host is invalid: its name is empty.
    case invalidHost(String)
    /// Managers of this process use the host.
    case hostInUse(String)
    /// The emulator's time is virtual.
    case virtualTime

    /// The reason as a sentence.
    public var description: String {
        switch self {
        case .invalidAddress(let text):
            "\"\(text)\" is no address of a port: tcp:127.0.0.1:PORT (loopback alone), unix:PATH, pty, vhci or usb"
        case .unavailable(let address, let reason): "the port \(address) is not available: \(reason)"
        case .invalidHost(let reason): "the host is invalid: \(reason)"
        case .hostInUse(let name): "programs of this process use the host \"\(name)\"; give the port another one"
        case .virtualTime: "an emulator in virtual time cannot serve other processes; use real or scaled time"
        }
    }
}
