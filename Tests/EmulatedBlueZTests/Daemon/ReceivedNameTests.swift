import BluetoothBackend
import BluetoothDBus
import BluetoothEmulator
import BluetoothSupport
import Testing

@testable import EmulatedBlueZ

/// Names that D-Bus cannot carry.
@Suite struct ReceivedNameTests {
    @Test(
        arguments: [
            ("Heart", "Heart"), ("Caf\u{E9}", "Caf\u{E9}"), ("Heart\0\0", "Heart"), (" Heart ", " Heart "), ("", ""),
            ("\u{202E}Strange\r\n\u{7}\0Name", "Strange\r\n\u{7}"), ("Caf\u{FFFD} 1", "Caf  1"),
            ("\u{E9}t\u{E9}\u{FFFD}", "t"), ("\0Name", ""), ("\u{FFFD}\u{FFFD}", ""),
        ])
    func aNameIsShownAsBluetoothdShowsIt(_ received: String, _ shown: String) {
        #expect(ReceivedName.shown(received) == shown)
    }

    @Test func aNameOfWhichNothingIsLeftIsNoName() {
        var fixture = DaemonFixture()
        fixture.call("StartDiscovery")
        fixture.hear(DaemonFixture.discovery(name: "Heart\0Beat"))
        fixture.hear(DaemonFixture.discovery(name: "\0"))
        let renamed = fixture.lines().last
        #expect(renamed == "dev_C0_DE_00_00_18_0D Alias=C0-DE-00-00-18-0D -Name")
    }

    @Test func everyNameOfAPeerAndOfAHostIsShownSo() throws {
        let bond = PeerFacts(peer: DaemonFixture.peer, address: "C0:DE:00:00:18:0D", name: "A\0B")
        let central = PeerFacts(peer: PeerID(UUID()), address: "C0:DE:00:00:18:0E", name: "C\0D")
        var fixture = DaemonFixture(name: "E\0F", bonds: [bond])
        fixture.handle(.centralConnected(adapter: 0, central))
        func name(_ path: String, _ interface: String) -> DBusValue? {
            fixture.context.tree.properties(of: interface, at: .constant(path))?["Name"]
        }
        #expect(name(DaemonFixture.device, "org.bluez.Device1") == .string("A"))
        #expect(name("/org/bluez/hci0/dev_C0_DE_00_00_18_0E", "org.bluez.Device1") == .string("C"))
        #expect(name(DaemonFixture.adapter, "org.bluez.Adapter1") == .string("E"))
    }
}
