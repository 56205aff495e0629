import Testing

@testable import BluetoothHCI

/// The commands that host stacks send to a controller of LE alone before they use it; each of them succeeds.
@Suite struct HostInitializationTests {
    private func expectSuccess(_ commands: [(opcode: UInt16, parameters: String)]) {
        var host = ControllerHost()
        for (opcode, parameters) in commands {
            let answers = host.ask(opcode, parameters)
            #expect(answers.count == 1)
            let bytes = ControllerHost.bytes(answers.first ?? "")
            #expect(bytes.count > 6 && bytes[1] == 0x0E && bytes[6] == 0, "\(opcode)")
        }
    }

    /// Linux 6, net/bluetooth/hci_sync.c: `hci_init1` to `hci_init4` and `le_init2` to `le_init4`.
    @Test func linuxInitializesTheController() {
        expectSuccess([
            (0x0C03, ""), (0x1003, ""), (0x1001, ""), (0x1009, ""), (0x1002, ""), (0x1004, "01"), (0x2003, ""),
            (0x2060, ""), (0x201C, ""), (0x0C01, "90E80402 00800020"), (0x2001, "7F1A0A0000000000"), (0x204B, ""),
            (0x200F, ""), (0x2010, ""), (0x202A, ""), (0x2029, ""), (0x202E, "8403"), (0x202F, ""), (0x2023, ""),
            (0x203B, ""), (0x0C63, "0000000000000000"), (0x2024, "FB004808"), (0x2031, "000101"),
            // Scanning.
            (0x2005, "0102030405C6"), (0x2041, "01 00 01 00 6000 3000"), (0x2042, "010100000000"),
            (0x2042, "000000000000"),
        ])
    }

    /// Bumble 0.0.236, host.py and device.py.
    @Test func bumbleInitializesTheController() {
        expectSuccess([
            (0x0C03, ""), (0x1002, ""), (0x1001, ""), (0x2003, ""), (0x1004, "00"), (0x1004, "01"),
            (0x0C01, "FF9FFFBF07F8BF3D"), (0x0C63, "0000000200000000"), (0x2001, "FFFFF7FF0FED7B00"), (0x1005, ""),
            (0x2060, ""), (0x2023, ""), (0x2024, "FB004808"), (0x203B, ""), (0x203A, ""), (0x1009, ""),
            (0x0C6D, "0100"), (0x2005, "F5F4F3F2F1F0"),
            // Scanning and advertising.
            (0x2041, "01 00 05 01 6000 6000 01 6000 6000"), (0x2042, "010000000000"), (0x2042, "000000000000"),
            (0x2036, "00 1300 400600 400600 07 01 00 000000000000 00 7F 01 00 01 00 00"), (0x2035, "00F5F4F3F2F1F0"),
            (0x2037, "00 03 01 08 070942756D626C65"), (0x2039, "01 01 00 0000 00"), (0x2039, "00 01 00 0000 00"),
            (0x203C, "00"),
        ])
    }

    /// Apache NimBLE, nimble/host/src/ble_hs_startup.c and ble_hs_pvcy.c, with legacy advertising.
    @Test func nimbleInitializesTheController() {
        let noKey = String(repeating: "00", count: 16)
        expectSuccess([
            (0x0C03, ""), (0x0C01, "9080000200000020"), (0x0C63, "0000800000000000"), (0x2001, "7F1A0F0000000000"),
            (0x2002, ""), (0x2003, ""), (0x1009, ""), (0x202D, "00"), (0x2029, ""), (0x202D, "01"),
            (0x2027, "00000000000000" + noKey + "EF8DE2164FEC430DBF5BDD34C0531EB8"), (0x204E, "0000000000000001"),
            // Advertising from a private address, with the data before the parameters.
            (0x202E, "2C01"), (0x2008, "03020106" + String(repeating: "00", count: 28)),
            (0x2006, "3000 6000 00 02 00 000000000000 07 00"), (0x200A, "01"),
        ])
    }

    /// Zephyr, subsys/bluetooth/host/hci_core.c, with flow control and the security manager.
    @Test func zephyrInitializesTheController() {
        expectSuccess([
            (0x0C03, ""), (0x1003, ""), (0x1001, ""), (0x1002, ""), (0x0C33, "1B0000 0C00 0000"), (0x0C31, "01"),
            (0x2003, ""), (0x2002, ""), (0x201C, ""), (0x202F, ""), (0x2024, "FB009042"), (0x202E, "8403"),
            (0x202A, ""), (0x2001, "7E0A000000000000"), (0x0C01, "90A8000200800020"), (0x1009, ""), (0x2018, ""),
            (0x2005, "0102030405C6"),
        ])
    }
}
