#if os(Linux)
import BluetoothEmulator
import BluetoothHCI
import Glibc

/// A controller of this machine's own kernel, which the module `hci_vhci` adds.
///
/// Source: Linux, `drivers/bluetooth/hci_vhci.c`.
struct VirtualController: PortTransport {
    static let path = "/dev/vhci"
    /// The packet type of requests to the driver, and of its answers.
    fileprivate static let vendor: UInt8 = 0xFF

    var address: HCIPortAddress { .vhci }
    var place: String { Self.path }
    var listener: CInt? { nil }
    var isKernelDevice: Bool { true }

    init() throws(HCIPortError) {
        guard access(Self.path, F_OK) == 0 else {
            throw .unavailable(.vhci, "\(Self.path) does not exist: modprobe hci_vhci")
        }
        guard access(Self.path, R_OK | W_OK) == 0 else {
            throw .unavailable(.vhci, "\(Self.path): \(systemReason); run as root")
        }
    }

    /// Adds a controller, which exists until the descriptor is closed.
    func open() throws(HCIPortError) -> PortStream? {
        let descriptor = Glibc.open(Self.path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw .unavailable(.vhci, systemReason) }
        // A primary controller.
        guard write(descriptor, [Self.vendor, 0], 2) == 2 else {
            defer { Glibc.close(descriptor) }
            throw .unavailable(.vhci, systemReason)
        }
        return PortStream(descriptor: descriptor, framing: Framing(), isOfMessages: true)
    }

    func close() {}

    /// H4, and the message in which the driver reports the number of the controller.
    private struct Framing: PacketFraming {
        private var packets = H4Framing()

        mutating func receive(_ bytes: ArraySlice<UInt8>) -> ReceivedPackets {
            bytes.first == VirtualController.vendor ? ReceivedPackets() : packets.receive(bytes)
        }

        func send(_ packet: HCIPacket) -> [UInt8] { packets.send(packet) }
    }
}
#endif
