import ArgumentParser
import BluetoothBackend
import Foundation
import Testing

@testable import bluectl

struct ParsingTests {
    private func parse<Command>(_ arguments: String..., as type: Command.Type = Command.self) throws -> Command {
        try #require(try Bluectl.parseAsRoot(ArgumentOrder.commandFirst(arguments)) as? Command)
    }

    @Test func commonOptionsMeanTheSameBeforeAndAfterTheCommand() throws {
        for scan in [
            try parse("--backend", "emulator", "--timeout", "2.5", "--json", "scan", as: ScanCommand.self),
            try parse("scan", "--json", "--timeout", "2.5", "--backend", "emulator", as: ScanCommand.self),
        ] {
            #expect(scan.global.backend == .emulator)
            #expect(scan.global.timeout.duration == .milliseconds(2500))
            #expect(scan.global.json)
        }
    }

    @Test func theNewerCommandsTakeCommonOptionsInFrontToo() throws {
        let front = ["--backend", "emulator", "--json", "--timeout", "3"]
        for words in [
            ["serve", "f.json"], ["advertise", "--name", "A"], ["pair", "A", "--yes"], ["unpair", "A"], ["monitor"],
            ["adapters"], ["completions", "zsh"],
        ] {
            let before = try Bluectl.parseAsRoot(ArgumentOrder.commandFirst(front + words))
            let after = try Bluectl.parseAsRoot(ArgumentOrder.commandFirst(words + front))
            #expect("\(before)" == "\(after)")
            #expect("\(before)".contains("emulator"))
        }
    }

    @Test func theTimeoutIs15SecondsIfNothingIsSaid() throws {
        #expect(try parse("scan", as: ScanCommand.self).global.timeout.duration == .seconds(15))
    }

    @Test func scanTakesItsFilters() throws {
        let scan = try parse(
            "scan", "--service", "180D", "--service", "180f", "--name", "heart", "--rssi=-70", "--duration", "3",
            "--duplicates", as: ScanCommand.self)
        #expect(scan.service == ["180D", "180F"])
        #expect(scan.duration?.duration == .seconds(3))
        #expect(scan.duplicates)
        var device = DeviceRecord(identifier: UUID(), name: "My Heart", rssi: -70)
        #expect(scan.isWanted(device))
        device.rssi = -71
        #expect(!scan.isWanted(device))
        device.rssi = nil
        #expect(!scan.isWanted(device))
        device.rssi = -50
        device.name = "Lung"
        #expect(!scan.isWanted(device))
    }

    @Test func writeTakesHexOrText() throws {
        let hex = try parse("write", "Echo", "180D", "2A39", "01 02", as: WriteCommand.self).request()
        #expect(hex.path.service == .uuid("180D", ordinal: nil))
        #expect(hex.value == Data([1, 2]))
        let text = try parse("write", "Echo", "2A39", "--text", "hé", "--without-response", as: WriteCommand.self)
        #expect(try text.request().value == Data([0x68, 0xC3, 0xA9]))
        #expect(try text.request().path.service == nil)
        #expect(text.withoutResponse)
    }

    @Test(arguments: [
        ["scan", "--service", "xyz"], ["scan", "--rssi", "200"], ["scan", "--duration", "0"], ["scan", "extra"],
        ["scan", "--timeout", "nan"], ["scan", "--backend", "other"], ["read"], ["read", "Echo"],
        ["read", "Echo", "2A3"], ["read", "Echo", "a", "b", "c"], ["read", "", "2A37"], ["write", "Echo", "2A37"],
        ["write", "Echo", "2A37", "0"], ["write", "Echo", "2A37", String(repeating: "00", count: 513)],
        ["subscribe", "Echo", "2A37", "--count", "0"], ["demo", "--backend", "bluez"], ["demo", "--world", "w.json"],
        ["doctor", "--backend", "emulator"], ["scan", "--backend", "bluez", "--world", "w.json"], ["nonsense"],
        ["serve"], ["serve", "f.json", "--visit"], ["advertise", "--service", "x"], ["advertise", "extra"], ["pair"],
        ["unpair"], ["monitor", "--duration", "0"], ["adapters", "hci0"], ["completions"], ["completions", "tcsh"],
        ["world", "plug"], ["world", "plug", "out"], ["world", "dongle", "--as", "pci"],
        ["world", "dongle", "--port", "1"], ["world", "dongle", "--hci", "usb:1"],
    ])
    func badArgumentsAreUsageErrors(arguments: [String]) {
        do {
            let command = try Bluectl.parseAsRoot(ArgumentOrder.commandFirst(arguments))
            Issue.record("\(arguments) became \(command)")
        } catch {
            #expect(Bluectl.exitCode(for: error) == .validationFailure)
        }
    }

    @Test(arguments: [
        ("ls", "scan"), ("tree", "explore"), ("get", "read"), ("put", "write"), ("sub", "subscribe"),
        ("notify", "subscribe"), ("check", "doctor"),
    ])
    func commandsHaveAliases(alias: String, command: String) throws {
        let found = Bluectl.configuration.subcommands.first { $0.configuration.aliases.contains(alias) }
        #expect(found?.configuration.commandName == command)
    }
}
