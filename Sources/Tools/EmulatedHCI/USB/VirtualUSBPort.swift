#if os(Linux)
package import BluetoothEmulator
import Glibc

/// A USB dongle of this machine's own kernel, on a port of the virtual host controller that the module `vhci_hcd` adds.
///
/// Source: Linux, `drivers/usb/usbip/vhci_sysfs.c`.
struct VirtualUSBPort: PortTransport {
    /// The number of ports that are tried if other programs take them at the same time.
    private static let attempts = 16

    private let controller: String

    var address: HCIPortAddress { .usb }
    var place: String { "a USB port of this machine" }
    var listener: CInt? { nil }
    var isKernelDevice: Bool { true }

    /// - Parameter system: Where the kernel shows its devices.
    init(in system: String = "/sys") throws(HCIPortError) {
        controller = Self.controller(in: system)
        guard access(controller, F_OK) == 0 else {
            throw .unavailable(.usb, "this kernel has no virtual USB host controller: modprobe vhci-hcd")
        }
        guard access(system + "/bus/usb/drivers/btusb", F_OK) == 0 else {
            throw .unavailable(.usb, "this kernel has no driver for Bluetooth dongles: modprobe btusb")
        }
        guard access(controller + "/attach", W_OK) == 0 else {
            throw .unavailable(.usb, "\(controller)/attach: \(systemReason); run as root")
        }
    }

    /// Plugs in a dongle, which stays until the descriptor is closed.
    func open() throws(HCIPortError) -> PortStream? {
        for _ in 0..<Self.attempts {
            guard let port = freePort() else { throw .unavailable(.usb, "no port of vhci_hcd is free") }
            var ends: [CInt] = [0, 0]
            guard socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
                throw .unavailable(.usb, systemReason)
            }
            // The kernel keeps the socket itself.
            defer { Glibc.close(ends[1]) }
            if attach(ends[1], to: port) {
                ends[0].makeNonBlocking()
                return PortStream(descriptor: ends[0], framing: USBDongle())
            }
            let reason = systemReason
            Glibc.close(ends[0])
            // Another program may have been faster.
            guard freePort() != port else { throw .unavailable(.usb, "port \(port) of vhci_hcd: \(reason)") }
        }
        throw .unavailable(.usb, "other programs take the ports of vhci_hcd")
    }

    func close() {}

    fileprivate static func controller(in system: String) -> String { system + "/devices/platform/vhci_hcd.0" }

    /// Returns the number of a free port for devices of USB 2.0.
    private func freePort() -> UInt32? {
        var number = 0
        // One file for each controller.
        while let text = contents(of: controller + (number == 0 ? "/status" : "/status.\(number)")) {
            if let port = Self.freePort(in: text) { return port }
            number += 1
        }
        return nil
    }

    /// Returns the number of the first free port for devices of USB 2.0 in the kernel's list: hub, port, state, speed, device,
    /// socket and bus number.
    static func freePort(in text: String) -> UInt32? {
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: " ")
            // VDEV_ST_NULL.
            if fields.count >= 3, fields[0] == "hs", UInt32(fields[2]) == 4, let port = UInt32(fields[1]) {
                return port
            }
        }
        return nil
    }

    /// Gives one end of a connection to the kernel.
    private func attach(_ socket: CInt, to port: UInt32) -> Bool {
        let descriptor = Glibc.open(controller + "/attach", O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        // Bus 1, device 2: the dongle does not read them. Speed 2 is full speed.
        let line = "\(port) \(socket) \(1 << 16 | 2) 2"
        let isWritten = write(descriptor, line, line.utf8.count) == line.utf8.count
        let code = errno
        Glibc.close(descriptor)
        errno = code
        return isWritten
    }

    /// Returns a file of the kernel, which is no longer than a page; nil if it does not exist.
    private func contents(of path: String) -> String? {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { Glibc.close(descriptor) }
        var (bytes, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 65_536))
        while case let count = read(descriptor, &buffer, buffer.count), count > 0 { bytes += buffer[..<count] }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension HCIPortAddress {
    /// The first of ``usb`` and ``vhci`` for which this kernel has the driver; nil if it has none.
    package static var kernelDevice: HCIPortAddress? {
        if access(VirtualUSBPort.controller(in: "/sys"), F_OK) == 0 { return .usb }
        return access(VirtualController.path, F_OK) == 0 ? .vhci : nil
    }
}
#endif
