#if Emulator && os(Linux)
import Foundation
import Testing

@testable import bluectl

/// The output and the exit status of the built tool on the emulator.
struct EndToEndTests {
    private static let monitor = "C0:DE:00:00:18:0D"
    private static let echo = "C0:DE:00:00:EC:40"
    private static let emulated = "EMULATED: these devices are not real\n"

    private func tool(_ arguments: String..., environment: [String: String] = [:]) async throws -> Tool.Outcome {
        try await Tool.run(["--backend", "emulator"] + arguments, environment: environment)
    }

    @Test func demoShowsEachStepAndSucceeds() async throws {
        let run = try await Tool.run(["demo"])
        #expect(run.status == 0)
        #expect(run.errors == Self.emulated)
        #expect(run.lines.contains("Found \"Heart Rate Monitor\", C0:DE:00:00:18:0D."))
        #expect(run.lines.contains("Read Battery Level 2A19: 57 (87 %)"))
        #expect(run.lines.contains("Wrote Heart Rate Control Point 2A39, reset energy: 01 (reset energy expended)"))
        let beats = run.lines.filter { $0.hasPrefix("The heart beats: ") }
        #expect(beats.count == 3)
        #expect(beats.allSatisfy { $0.contains(" bpm, skin contact, RR ") })
    }

    @Test func scanPrintsALineForEachReport() async throws {
        let run = try await tool("scan", "--duration", "2", "--name", "heart")
        #expect(run.status == 0)
        #expect(run.errors == Self.emulated)
        let last = try #require(run.lines.last).split(separator: "\t").map { String($0) }
        #expect(last.count == 6 && last[5] == "tx 0 dBm")
        #expect(UUID(uuidString: last[0]) != nil)
        #expect(last[1] == Self.monitor)
        #expect(Int(last[2]) != nil)
        #expect(Array(last[3..<5]) == ["Heart Rate Monitor", "Heart Rate 180D, Battery 180F, Device Information 180A"])
        #expect(!run.output.contains("\u{1B}"))
    }

    @Test func scanInJSONFindsTheThreeBuiltInDevices() async throws {
        let run = try await tool("scan", "--duration", "2", "--json")
        #expect(run.status == 0)
        let objects = try run.objects()
        #expect(Set(objects.compactMap { $0["name"] as? String }) == ["Heart Rate Monitor", "nRF Blinky", "Echo"])
        #expect(objects.allSatisfy { $0["backend"] as? String == "emulator" })
        let known: Set = [
            "identifier", "address", "name", "rssi", "services", "manufacturerData", "company", "serviceData",
            "txPower", "isConnectable", "values", "backend",
        ]
        #expect(objects.allSatisfy { Set($0.allKeys.compactMap { $0 as? String }).isSubset(of: known) })
    }

    @Test func exploreInJSONHasTheTree() async throws {
        let run = try await tool("explore", Self.monitor, "--json")
        #expect(run.status == 0)
        let object = try #require(try run.objects().first)
        #expect(object["name"] as? String == "Heart Rate Monitor")
        #expect(object["mtu"] as? Int ?? 0 >= 23)
        let services = try #require(object["services"] as? [NSDictionary])
        #expect(services.compactMap { $0["uuid"] as? String } == ["180D", "180F", "180A"])
        let characteristics = try #require(services[0]["characteristics"] as? [NSDictionary])
        #expect(characteristics.compactMap { $0["uuid"] as? String } == ["2A37", "2A38", "2A39"])
        #expect(characteristics[1]["value"] as? String == "01")
        #expect(characteristics[1]["properties"] as? [String] == ["read"])
        #expect(characteristics[0]["value"] == nil)
    }

    @Test func exploreForPeopleNamesAndDecodes() async throws {
        let run = try await tool("explore", Self.monitor)
        #expect(run.status == 0)
        #expect(run.output.contains("├─ Heart Rate 180D\n"))
        #expect(run.output.contains("Body Sensor Location 2A38 @0x"))
        #expect(run.output.contains("read = 01 (chest)"))
    }

    @Test func readDecodesStandardValues() async throws {
        let run = try await tool("read", Self.monitor, "2A19")
        #expect(run.status == 0)
        #expect(run.output == "Battery Level 2A19: 57 (87 %)\n")
        #expect(run.errors == Self.emulated)
    }

    @Test func readInJSONHasServiceHandleAndValue() async throws {
        let run = try await tool("read", Self.monitor, "180F", "2A19", "--json")
        #expect(run.status == 0)
        let object = try #require(try run.objects().first)
        #expect(object["service"] as? String == "180F")
        #expect(object["characteristic"] as? String == "2A19")
        #expect(object["value"] as? String == "57")
        let handle = try #require(object["handle"] as? Int)
        let again = try await tool("read", Self.monitor, "@\(handle)", "--json")
        #expect(again.output == run.output)
    }

    @Test func aDeviceIsFoundByNameAndByIdentifier() async throws {
        let byName = try await tool("read", "echo", "0000EC41-7A3D-4C5B-9E1F-2B6A8D4C0F01")
        #expect(byName.status == 0)
        let scan = try await tool("scan", "--name", "Echo", "--duration", "1", "--json")
        let identifier = try #require(try scan.objects().first?["identifier"] as? String)
        let byIdentifier = try await tool("read", identifier, "0000EC41-7A3D-4C5B-9E1F-2B6A8D4C0F01")
        #expect(byIdentifier.status == 0)
        #expect(byIdentifier.output == byName.output)
    }

    @Test(arguments: [[], ["--without-response"]])
    func writeIsTaken(options: [String]) async throws {
        let run = try await Tool.run(
            ["write", Self.echo, "0000EC41-7A3D-4C5B-9E1F-2B6A8D4C0F01", "68:69", "--json", "--backend", "emulator"]
                + options)
        #expect(run.status == 0)
        #expect(try run.objects().first?["value"] as? String == "6869")
    }

    @Test func subscribePrintsAsManyValuesAsAsked() async throws {
        let run = try await tool("subscribe", Self.monitor, "2A37", "--count", "2", "--json")
        #expect(run.status == 0)
        #expect(try run.objects().count == 2)
        #expect(try run.objects().allSatisfy { ($0["value"] as? String)?.hasPrefix("16") == true })
    }

    @Test(arguments: [
        ["scan", "--backend", "emulator"],
        ["subscribe", monitor, "2A37", "--backend", "emulator"],
    ])
    func anInterruptionEndsListingsWithStatus0(arguments: [String]) async throws {
        let run = try await Tool.run(arguments, interrupts: true)
        #expect(run.status == 0)
        #expect(!run.output.isEmpty)
        #expect(run.errors == Self.emulated)
    }

    @Test func whatTheDeviceLacksFailsWithStatus1() async throws {
        let run = try await tool("read", Self.monitor, "2A99")
        #expect(run.status == 1)
        #expect(run.output.isEmpty)
        #expect(run.errors == Self.emulated + "bluectl: the device has no characteristic 2A99\n")
    }

    @Test func aRefusedReadFailsWithTheATTCode() async throws {
        let run = try await tool("read", Self.monitor, "2A39", "--json")
        #expect(run.status == 1)
        let last = try #require(run.errors.split(separator: "\n").last)
        #expect(last == #"{"code":1,"error":"ATT error 0x02: Reading is not permitted."}"#)
    }

    @Test func aSubscriptionToWhatDoesNotNotifyNamesTheProperties() async throws {
        let run = try await tool("subscribe", Self.monitor, "2A38", "--count", "1")
        #expect(run.status == 1)
        #expect(
            run.errors.hasSuffix(
                "bluectl: ATT error 0x06: The request is not supported. The characteristic does not notify: "
                    + "\"bluectl explore DEVICE\" lists the properties of each.\n"), "\(run)")
    }

    @Test func aReadThatNeedsABondNamesTheCommandThatPairs() async throws {
        let world = """
            devices:
              - name: Safe
                address: C0:DE:00:00:00:01
                advertising: [{data: {localName: Safe}}]
                pairing: {answer: reject}
                services:
                  - uuid: FFE0
                    characteristics:
                      - {uuid: FFE1, properties: [read], permissions: [readEncryptionRequired], value: 07}
            """
        try await Tool.withFile(world, "safe.yaml") { file in
            let run = try await Tool.run(["read", "Safe", "FFE1", "--backend", "emulator", "--world", file])
            #expect(run.status == 1)
            #expect(run.errors.contains("bluectl: ATT error 0x"), "\(run)")
            #expect(run.errors.hasSuffix("Pair with the device first: bluectl pair DEVICE.\n"), "\(run)")
        }
    }

    @Test func aWriteWithoutResponseNeedsTheProperty() async throws {
        let run = try await tool("write", Self.monitor, "2A39", "01", "--without-response")
        #expect(run.status == 1)
        #expect(run.errors.hasSuffix("bluectl: Heart Rate Control Point 2A39 cannot be written without response\n"))
    }

    @Test func aDeviceThatIsNotThereTimesOutWithStatus3() async throws {
        let run = try await tool("read", "Missing", "2A19", "--timeout", "0.5", "--json")
        #expect(run.status == 3)
        let last = try #require(run.errors.split(separator: "\n").last)
        // The devices that were heard by then depend on the machine.
        let error =
            #"{"code":3,"error":"there is no device Missing in range: timed out after 0.5 s looking for the device; "#
        #expect(last.hasPrefix(error), "\(last)")
    }

    @Test func aSubscriptionThatStaysSilentTimesOutIfValuesAreCounted() async throws {
        let run = try await tool(
            "subscribe", Self.echo, "0000EC41-7A3D-4C5B-9E1F-2B6A8D4C0F01", "--count", "1", "--timeout", "3")
        #expect(run.status == 3)
        #expect(run.errors.hasSuffix("bluectl: timed out after 3 s waiting for a value\n"))
    }

    @Test(arguments: [["read"], ["nonsense"], ["scan", "--service", "x"], ["write", "a", "2A37", "0"]])
    func usageErrorsAreOneLineAndStatus2(arguments: [String]) async throws {
        let run = try await Tool.run(arguments)
        #expect(run.status == 2)
        #expect(run.output.isEmpty)
        #expect(run.errors.hasPrefix("bluectl: "))
        #expect(run.errors.filter { $0 == "\n" }.count == 1)
    }

    @Test func helpGoesToStandardOutput() async throws {
        let run = try await Tool.run(["--help"])
        #expect(run.status == 0)
        #expect(run.output.contains("SUBCOMMANDS:"))
        #expect(run.errors.isEmpty)
    }

    @Test func twoDevicesOfOneNameAreAmbiguous() async throws {
        let world = """
            devices:
              - {name: Twin, address: C0:DE:00:00:00:01, advertising: [{data: {localName: Twin}}]}
              - {name: Twin, address: C0:DE:00:00:00:02, advertising: [{data: {localName: Twin}}]}
            """
        let run = try await Tool.withFile(world, "twins.yaml") { try await tool("explore", "Twin", "--world", $0) }
        #expect(run.status == 1)
        #expect(run.errors.contains("several devices are named Twin: choose C0:DE:00:00:00:01 "))
        #expect(run.errors.contains("C0:DE:00:00:00:02 "))
        let choices = run.errors.split(separator: "choose ").last?.split(whereSeparator: { " ,\n".contains($0) }) ?? []
        #expect(choices.filter { UUID(uuidString: String($0)) != nil }.count == 2, "\(run.errors)")
    }

    @Test func anAmbiguousCharacteristicIsChosenByOrdinal() async throws {
        let world = """
            devices:
              - name: Twice
                address: C0:DE:00:00:00:03
                advertising: [{data: {localName: Twice}}]
                services:
                  - uuid: FFE0
                    characteristics:
                      - {uuid: FFE1, properties: [read], value: 01}
                      - {uuid: FFE1, properties: [read], value: 02}
            """
        try await Tool.withFile(world, "twice.yaml") { file in
            let environment = ["COREBLUETOOTH_WORLD": file]
            let ambiguous = try await tool("read", "C0:DE:00:00:00:03", "FFE1", environment: environment)
            #expect(ambiguous.status == 1)
            #expect(ambiguous.errors.contains("choose FFE1#1 (@0x"))
            let second = try await tool("read", "C0:DE:00:00:00:03", "FFE1#2", environment: environment)
            #expect(second.output == "FFE1: 02\n")
        }
    }

    @Test func aWorldFileWithAMistakeIsAUsageErrorWithItsLine() async throws {
        let world = "devices:\n  - name: A\n    services:\n      - uuid: nonsense\n"
        let run = try await Tool.withFile(world, "broken.yaml") { try await tool("scan", "--world", $0, "--json") }
        #expect(run.status == 2)
        #expect(run.errors.contains("broken.yaml:4:9: devices[0].services[0].uuid: "))
        #expect(run.errors.contains(#""code":2"#))
    }

    @Test func theEnvironmentSelectsTheBackend() async throws {
        let run = try await Tool.run(
            ["read", Self.monitor, "2A19"], environment: ["COREBLUETOOTH_BACKEND": "emulator"])
        #expect(run.output == "Battery Level 2A19: 57 (87 %)\n")
        let unknown = try await Tool.run(["scan"], environment: ["COREBLUETOOTH_BACKEND": "other"])
        #expect(unknown.status == 2)
    }
}
#endif
