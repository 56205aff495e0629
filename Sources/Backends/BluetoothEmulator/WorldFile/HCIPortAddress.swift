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
    /// Nil for other text, and for a TCP address outside of loopback: whoever reaches the port controls the host.
    public init?(_ text: String) {
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
            else { return nil }
            self = .tcp(port: port)
        default: return nil
        }
    }

    package static let rule = "a port is tcp:127.0.0.1:PORT (loopback alone), unix:PATH, pty, vhci or usb"

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
