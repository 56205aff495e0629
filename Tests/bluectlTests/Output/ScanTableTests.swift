import Foundation
import Testing

@testable import bluectl

struct ScanTableTests {
    private func device(
        _ number: UInt8, name: String? = nil, address: String? = nil, rssi: Int? = nil, services: [String] = []
    ) -> DeviceRecord {
        DeviceRecord(
            identifier: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, number)), address: address,
            advertisedName: name, rssi: rssi, services: services)
    }

    private func table(_ devices: DeviceRecord...) -> ScanTable {
        var table = ScanTable()
        for device in devices { table.update(device) }
        return table
    }

    @Test func namedDevicesComeFirstInAStableOrder() {
        let table = table(
            device(1), device(2, name: "beta"), device(4), device(3, name: "Alpha"), device(5, name: "beta"))
        #expect(table.sorted.map(\.identifier.uuid.15) == [3, 2, 5, 1, 4])
    }

    @Test func aReportThatLacksSomethingKeepsIt() throws {
        var table = table(device(1, name: "Echo", address: "A", rssi: -40, services: ["180F"]))
        table.update(device(1, rssi: -50))
        let known = try #require(table.sorted.first)
        #expect(known == device(1, name: "Echo", address: "A", rssi: -50, services: ["180F"]))
    }

    @Test func aRowShowsNameAddressSignalAndServices() {
        let table = table(
            device(1, name: "Heart Rate Monitor", address: "C0:DE:00:00:18:0D", rssi: -63, services: ["180D"]),
            device(2))
        #expect(
            table.lines(columns: 90, palette: Palette(isTerminal: false, environment: [:])) == [
                "NAME                ADDRESS                               RSSI  SERVICES",
                "Heart Rate Monitor  C0:DE:00:00:18:0D                      -63  Heart Rate 180D",
                "-                   00000000-0000-0000-0000-000000000002     -",
                "2 found, Ctrl-C ends",
            ])
    }

    @Test func whatWasHeardIsListedWithTheNearestName() {
        let table = table(
            device(1, name: "Heart"), device(2, name: "\u{1B}Lamp"), device(3, address: "C0:DE:00:00:00:03"))
        #expect(
            table.text(besides: DeviceQuery("Haert"))
                == "; heard: \u{FFFD}Lamp, Heart, C0:DE:00:00:00:03; did you mean \"Heart\"?")
        #expect(table.text(besides: nil) == "; heard: \u{FFFD}Lamp, Heart, C0:DE:00:00:00:03")
        #expect(ScanTable().text(besides: nil) == "; no device was heard")
        var many = ScanTable()
        for number in 1...20 { many.update(device(UInt8(number), name: "Device")) }
        #expect(many.text(besides: nil).hasSuffix("Device and 12 more"))
    }

    @Test func theLastTableDoesNotSayHowTheScanEnds() {
        let lines = table(device(1)).lines(
            columns: 80, isOver: true, palette: Palette(isTerminal: false, environment: [:]))
        #expect(lines.last == "1 found")
    }

    @Test func theDeviceThatWasHeardFirstIsForgottenWhereThereAreTooMany() {
        var table = ScanTable()
        func identified(_ number: Int) -> DeviceRecord {
            DeviceRecord(
                identifier: UUID(
                    uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(number >> 8), UInt8(number & 0xFF))))
        }
        for number in 0...ScanTable.maximumCount { table.update(identified(number)) }
        #expect(table.devices.count == ScanTable.maximumCount)
        #expect(table.devices[identified(0).identifier] == nil && table.devices[identified(1).identifier] != nil)
    }

    @Test func noLineIsWiderThanTheTerminal() {
        let table = table(
            device(
                1, name: String(repeating: "long ", count: 20), address: "C0:DE:00:00:18:0D", rssi: -63,
                services: ["180D", "180F"]))
        for columns in [60, 80, 120] {
            for line in table.lines(columns: columns, palette: Palette(isTerminal: false, environment: [:])) {
                #expect(PrintableText.columns(line) <= columns)
            }
        }
    }

    @Test func whatDoesNotFitIsCounted() {
        var table = ScanTable()
        for number in 1...20 { table.update(device(UInt8(number), name: "Device")) }
        let lines = table.lines(columns: 80, rows: 10, palette: Palette(isTerminal: false, environment: [:]))
        #expect(lines.count == 9)
        #expect(lines.last == "… and 13 more")
    }

    @Test func escapeSequencesInNamesAreNotPrinted() {
        let lines = table(device(1, name: "\u{1B}[31mred\r")).lines(
            columns: 80, palette: Palette(isTerminal: false, environment: [:]))
        #expect(!lines.joined().unicodeScalars.contains { $0.value < 32 })
    }

    @Test func aPlainLineHasFiveFields() {
        let full = device(1, name: "Echo", address: "A", rssi: -40, services: ["180F", "FFE0"])
        #expect(
            full.line
                == "00000000-0000-0000-0000-000000000001\tA\t-40\tEcho\tBattery 180F, FFE0")
        #expect(device(2).line == "00000000-0000-0000-0000-000000000002\t-\t-\t-\t-")
    }
}
