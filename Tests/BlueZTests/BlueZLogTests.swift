import Testing

@testable import BlueZ

@Suite struct BlueZLogTests {
    @Test(arguments: [
        ("/org/bluez/hci0/dev_00_11_22_AA_BB_CC/service0001", "/org/bluez/hci0/dev_…/service0001"),
        ("Connect of 00:11:22:aa:bb:cc: refused", "Connect of …: refused"),
        ("from 00:11:22:33:44:55 to 66:77:88:99:AA:BB", "from … to …"),
        ("services of 0A0B0C0D-1111-2222-3333-445566778899", "services of 0A0B0C0D-1111-2222-3333-445566778899"),
        ("at 10:23:45 the daemon went", "at 10:23:45 the daemon went"),
    ]) func addressesAreLeftOut(_ text: String, _ expected: String) {
        #expect(BlueZLog.hidingAddresses(in: text) == expected)
    }
}
