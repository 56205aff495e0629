#if Emulator && os(Linux)
import Foundation
import Testing

@testable import bluectl

/// The command `bluectl scan` of beacons and sensors, as a process.
struct ScanTests {
    private static let beacons = """
        devices:
          - name: Ruuvi
            address: C0:DE:00:00:00:05
            advertising:
              - {connectable: false, data: {manufacturerData: 99040512FC5394C37C0004FFFC040CAC364200CDCBB8334C884F}}
          - name: Thermo
            address: C0:DE:00:00:00:06
            advertising: [{data: {localName: Thermo, txPowerLevel: 4, serviceData: {FCD2: 4002CA0903BF13, 180F: "57"}}}]
          - name: Other
            address: C0:DE:00:00:00:07
            advertising: [{data: {localName: Other, manufacturerData: FFFF0102}}]
          - name: Board
            address: C0:DE:00:00:00:08
            advertising: [{data: {localName: Board, manufacturerData: 59000102}}]
        """

    private func scan(_ arguments: String...) async throws -> Tool.Outcome {
        try await Tool.withFile(Self.beacons, "beacons.yaml") { file in
            try await Tool.run(["scan", "--backend", "emulator", "--world", file] + arguments)
        }
    }

    @Test func dataOfAnAdvertisementAreShownAndDecoded() async throws {
        let run = try await scan("--duration", "2")
        #expect(run.status == 0, "\(run)")
        func details(_ address: String) -> String? {
            run.lines.last { $0.contains(address) }?.split(separator: "\t").dropFirst(5).first.map { String($0) }
        }
        #expect(
            details("C0:DE:00:00:00:05")?.hasPrefix("not connectable, Ruuvi: temperature 24.300 °C, humidity") == true)
        #expect(
            details("C0:DE:00:00:00:06")
                == "tx 4 dBm, BTHome: temperature 25.06 °C, humidity 50.55 %, data of Battery 180F 57")
        #expect(details("C0:DE:00:00:00:07") == "company 0xFFFF data 0102")
        #expect(details("C0:DE:00:00:00:08") == "company 0x0059 Nordic Semiconductor ASA data 0102")
    }

    @Test func dataOfAnAdvertisementAreInJSON() async throws {
        let run = try await scan("--duration", "2", "--json")
        let objects = try run.objects()
        let thermo = try #require(objects.last { $0["name"] as? String == "Thermo" })
        #expect(thermo["serviceData"] as? [String: String] == ["FCD2": "4002CA0903BF13", "180F": "57"])
        #expect(thermo["txPower"] as? Int == 4 && thermo["isConnectable"] as? Bool == true)
        let values = try #require(thermo["values"] as? [NSDictionary])
        #expect(
            values == [
                [
                    "format": "BTHome",
                    "fields": [
                        ["name": "temperature", "value": 25.06, "unit": "°C"],
                        ["name": "humidity", "value": 50.55, "unit": "%"],
                    ],
                ]
            ])
        let board = try #require(objects.last { $0["name"] as? String == "Board" })
        #expect(board["company"] as? String == "Nordic Semiconductor ASA")
        #expect(board["manufacturerData"] as? String == "59000102")
        let other = try #require(objects.last { $0["name"] as? String == "Other" })
        #expect(other["company"] == nil)
        let ruuvi = try #require(objects.last { $0["address"] as? String == "C0:DE:00:00:00:05" })
        #expect(ruuvi["isConnectable"] as? Bool == false)
    }

    @Test func theFirstThatMatchesEndsTheScan() async throws {
        let run = try await scan("--first", "--name", "other", "--json")
        #expect(run.status == 0, "\(run)")
        #expect(try run.objects().map { $0["name"] as? String } == ["Other"])
    }

    @Test(arguments: [["--duration", "0.3"], ["--timeout", "0.3"]])
    func noMatchInTimeIsStatus3(option: [String]) async throws {
        let run = try await Tool.run(["scan", "--backend", "emulator", "--first", "--name", "missing"] + option)
        #expect(run.status == 3 && run.output.isEmpty)
        #expect(run.errors.contains("bluectl: no device matches: timed out after 0.3 s looking for the device; "))
    }

    @Test func anEmulatedAdapterThatIsNotThereIsNamedWithTheRemedy() async throws {
        let environment = ["COREBLUETOOTH_BACKEND": "emulator", "COREBLUETOOTH_ADAPTER": "hci3"]
        for run in [
            try await Tool.run(["scan"], environment: environment),
            try await Tool.run(["advertise", "--backend", "emulator", "--adapter", "hci3"]),
        ] {
            #expect(run.status == 1 && run.output.isEmpty)
            #expect(run.errors.hasPrefix("bluectl: there is no emulated adapter \"hci3\" among \"default\": leave "))
            #expect(run.errors.filter { $0 == "\n" }.count == 1, "\(run.errors)")
        }
    }

    @Test(arguments: [
        (["scna"], "bluectl: there is no command \"scna\"; did you mean \"scan\"?\n"),
        (
            ["--json", "raed"],
            #"{"code":2,"error":"there is no command \"raed\"; did you mean \"read\"?"}"# + "\n"
        ),
        (["nonsense"], "bluectl: there is no command \"nonsense\"; \"bluectl --help\" lists them\n"),
    ])
    func anUnknownCommandHasASuggestion(arguments: [String], error: String) async throws {
        let run = try await Tool.run(arguments)
        #expect(run.status == 2 && run.output.isEmpty)
        #expect(run.errors == error)
    }

    @Test(arguments: [
        ["180D/2A38"], ["Body Sensor Location"], ["heart-rate", "body-sensor-location"],
        ["Body Sensor Location 2A38"], ["Heart Rate 180D/Body Sensor Location"],
    ])
    func attributesAreNamedAsExplorePrintsThem(path: [String]) async throws {
        let run = try await Tool.run(["read", "Heart Rate Monitor"] + path + ["--backend", "emulator"])
        #expect(run.output == "Body Sensor Location 2A38: 01 (chest)\n", "\(run)")
    }
}
#endif
