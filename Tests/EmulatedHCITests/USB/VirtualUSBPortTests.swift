#if os(Linux)
import Foundation
import Glibc
import Testing

@testable import EmulatedHCI

/// The files of a kernel, in a folder; Tests/RealBlueZ/dongle-test uses a kernel's own.
struct VirtualUSBPortTests {
    private static let header = "hub port sta spd dev      sockfd local_busid\n"

    private static func line(_ hub: String, _ port: Int, _ state: Int) -> String {
        String(format: "\(hub)  %04d %03d 000 00000000 000000 0-0\n", port, state)
    }

    /// A kernel with its modules.
    private final class Kernel {
        let folder: String
        var controller: String { folder + "/devices/platform/vhci_hcd.0" }

        init(hasController: Bool = true, hasDriver: Bool = true) throws {
            folder = FileManager.default.temporaryDirectory.path + "/usb-\(UUID().uuidString)"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            if hasController {
                try FileManager.default.createDirectory(atPath: controller, withIntermediateDirectories: true)
                try write("attach", "")
                try write("status", header + line("hs", 0, 4))
            }
            if hasDriver {
                try FileManager.default.createDirectory(
                    atPath: folder + "/bus/usb/drivers/btusb", withIntermediateDirectories: true)
            }
        }

        deinit { try? FileManager.default.removeItem(atPath: folder) }

        func write(_ name: String, _ text: String) throws {
            try Data(text.utf8).write(to: URL(fileURLWithPath: controller + "/" + name))
        }

        /// The fields that were written to attach a device.
        func attached() throws -> [String] {
            try String(contentsOfFile: controller + "/attach", encoding: .utf8).split(separator: " ").map(String.init)
        }

        func open() throws -> PortStream? { try VirtualUSBPort(in: folder).open() }

        /// The reason why no dongle can be plugged in.
        func reason() -> String? {
            do {
                _ = try open()
                return nil
            } catch {
                return "\(error)"
            }
        }
    }

    @Test func theKernelGetsASocketForAFullSpeedDeviceOnAFreePort() throws {
        let kernel = try Kernel()
        try kernel.write(
            "status",
            Self.header + Self.line("hs", 0, 6) + Self.line("hs", 1, 7) + Self.line("hs", 2, 4) + Self.line("hs", 3, 4))
        let stream = try #require(try kernel.open())
        defer { close(stream.descriptor) }
        let fields = try kernel.attached()
        #expect(fields.count == 4)
        #expect(fields[0] == "2")
        #expect(Int(fields[1]).map { $0 > 2 } == true)
        #expect(Array(fields[2...]) == ["65538", "2"])
        #expect(stream.framing is USBDongle)
        #expect(!stream.isOfMessages)
        #expect(fcntl(stream.descriptor, F_GETFL) & O_NONBLOCK != 0)
        var byte: UInt8 = 0
        #expect(read(stream.descriptor, &byte, 1) == 0, "the kernel alone has the other end, and here no kernel does")
    }

    @Test func aPortOfALaterControllerIsUsedIfTheFirstHasNone() throws {
        let kernel = try Kernel()
        try kernel.write("status", Self.header + Self.line("hs", 0, 5) + Self.line("ss", 8, 4))
        try kernel.write("status.1", Self.header + Self.line("hs", 16, 6) + Self.line("hs", 17, 4))
        let stream = try #require(try kernel.open())
        defer { close(stream.descriptor) }
        #expect(try kernel.attached().first == "17")
    }

    @Test(
        arguments: [
            ("", nil), (header, nil), (header + line("ss", 8, 4), nil), (header + line("hs", 0, 6), nil),
            // Kernels before 4.13 had no column for the hub.
            ("prt sta spd dev socket local_busid\n0000 004 000 00000000 0000000000000000 0-0\n", nil),
            ("hs\nhs  0003\nhs  none 004\nhs  0004 four\n", nil), (header + "hs 0009 004", 9),
            (header + line("ss", 8, 4) + line("hs", 12, 4), 12),
        ] as [(String, UInt32?)])
    func aFreePortIsOneForUSB2InState4(_ text: String, _ port: UInt32?) {
        #expect(VirtualUSBPort.freePort(in: text) == port)
    }

    @Test func whatTheKernelLacksIsNamedWithItsModule() throws {
        #expect(
            try Kernel(hasController: false).reason()
                == "the port usb is not available: this kernel has no virtual USB host controller: modprobe vhci-hcd")
        #expect(
            try Kernel(hasDriver: false).reason()
                == "the port usb is not available: this kernel has no driver for Bluetooth dongles: modprobe btusb")
    }

    @Test func aKernelWithoutAFreePortIsUnavailable() throws {
        let kernel = try Kernel()
        try kernel.write("status", Self.header + Self.line("hs", 0, 6))
        #expect(kernel.reason() == "the port usb is not available: no port of vhci_hcd is free")
    }

    @Test func aRefusalOfTheKernelIsTheReason() throws {
        let kernel = try Kernel()
        unlink(kernel.controller + "/attach")
        symlink("/dev/full", kernel.controller + "/attach")
        #expect(
            kernel.reason() == "the port usb is not available: port 0 of vhci_hcd: No space left on device")
    }
}
#endif
