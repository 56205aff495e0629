#if os(Linux)
import BluetoothEmulator
import Glibc

/// The means by which hosts reach a port.
///
/// The server of the port calls all methods on one queue.
protocol PortTransport: Sendable {
    /// The place where the host attaches, with the port that the system chose.
    var address: HCIPortAddress { get }

    /// The place as a user sees it.
    var place: String { get }

    /// A descriptor that is readable when a host waits for ``open()``; nil if the host is always there.
    var listener: CInt? { get }

    /// Whether the host is this machine's kernel, which the transport plugs in.
    var isKernelDevice: Bool { get }

    /// Returns the stream to a host; nil if none waits.
    func open() throws(HCIPortError) -> PortStream?

    /// Releases what the transport holds; its streams stay.
    func close()
}

extension PortTransport {
    var isKernelDevice: Bool { false }
}

/// The open stream between a host and its controller.
struct PortStream {
    /// The descriptor, which belongs to the stream's user.
    let descriptor: CInt
    var framing: any PacketFraming = H4Framing()
    /// Whether each packet needs a write of its own.
    var isOfMessages = false
}

extension HCIPortAddress {
    /// Opens the transport.
    func makeTransport() throws(HCIPortError) -> any PortTransport {
        switch self {
        case .tcp, .unix: try ListeningSocket(self)
        case .pty: try PseudoTerminal()
        case .vhci: try VirtualController()
        case .usb: try VirtualUSBPort()
        }
    }
}

extension CInt {
    /// Makes reads and writes of the descriptor return at once.
    func makeNonBlocking() { _ = fcntl(self, F_SETFL, fcntl(self, F_GETFL) | O_NONBLOCK) }
}

/// The system's text for `errno`.
var systemReason: String { String(cString: strerror(errno)) }
#endif
