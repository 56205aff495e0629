import BluetoothEmulator
import Testing

struct HCIPortAddressTests {
    @Test(
        arguments: [
            ("tcp:9033", .tcp(port: 9033)), ("tcp:127.0.0.1:9033", .tcp(port: 9033)),
            ("tcp:localhost:0", .tcp(port: 0)),
            ("unix:/run/hci", .unix(path: "/run/hci")), ("unix:a:b", .unix(path: "a:b")), ("pty", .pty),
            ("vhci", .vhci), ("usb", .usb),
        ] as [(String, HCIPortAddress)])
    func anAddressIsParsed(_ text: String, _ address: HCIPortAddress) {
        #expect(HCIPortAddress(text) == address)
        #expect(HCIPortAddress(address.description) == address)
    }

    @Test(arguments: [
        "", "tcp", "tcp:", "tcp:x", "tcp:65536", "tcp:-1", "tcp:+9033", "tcp::9033", "tcp:1:2:3", "unix",
        "unix:", "pty:", "vhci:", "/dev/vhci", "usb:1-1", "USB", "pty:/dev/pts/1", "serial:/dev/ttyS0", "9033",
        "TCP:9033",
    ])
    func anotherTextIsRefused(_ text: String) {
        #expect(HCIPortAddress(text) == nil)
    }

    /// Whoever reaches the port controls the host.
    @Test(arguments: ["tcp:0.0.0.0:9033", "tcp:192.168.1.2:9033", "tcp:example.org:9033", "tcp:[::1]:9033"])
    func aTCPAddressOutsideOfLoopbackIsRefused(_ text: String) {
        #expect(HCIPortAddress(text) == nil)
    }
}
