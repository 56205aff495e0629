#if Emulator && BlueZ && os(Linux)
import Foundation
import Testing

@testable import bluectl

/// The parts that need no kernel; Tests/RealBlueZ/dongle-test uses one.
struct WorldDongleTests {
    /// The links of `/sys/class/bluetooth` lead to the devices.
    @Test(
        arguments: [
            ("../../devices/platform/vhci_hcd.0/usb1/1-1/1-1:1.0/bluetooth/hci1", "1-1"),
            ("../../devices/pci0000:00/0000:00:14.0/usb2/2-3/2-3.4/2-3.4:1.0/bluetooth/hci1", "2-3.4"),
            ("../../devices/virtual/bluetooth/hci1", nil), ("hci1", nil),
        ] as [(String, String?)])
    func aUSBDeviceIsFoundByItsAdapter(_ link: String, _ device: String?) async throws {
        try await Tool.withFolder { folder in
            try FileManager.default.createSymbolicLink(
                atPath: folder.path + "/hci1", withDestinationPath: link)
            #expect(KernelAdapter.usbDevice(of: "hci1", in: folder.path) == device)
            #expect(KernelAdapter.usbDevice(of: "hci2", in: folder.path) == nil)
        }
    }
}
#endif
