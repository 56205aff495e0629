#if Emulator && os(Linux)
import BluetoothEmulator
import Foundation
import Testing

/// World files, as the tool reads them as a process.
struct WorldFileToolTests {
    private func tool(_ world: String, _ arguments: String...) async throws -> Tool.Outcome {
        try await Tool.withFile(world, "world.yaml") { file in
            try await Tool.run(arguments + ["--backend", "emulator", "--world", file])
        }
    }

    @Test(arguments: [("slow", "MTU 23"), ("default", "MTU 185")])
    func thePresetOfTheFileHolds(preset: String, words: String) async throws {
        let run = try await tool(
            "preset: \(preset)\nseed: 4\ndevices: [{name: Lamp, advertising: [{data: {localName: Lamp}}]}]",
            "explore", "Lamp")
        #expect(run.status == 0, "\(run)")
        #expect(run.output.contains(words), "\(run)")
    }

    @Test func theOptionsPrecedeTheFile() async throws {
        let world = "preset: default\nseed: 4\ndevices: [{name: Lamp, advertising: [{data: {localName: Lamp}}]}]"
        let run = try await tool(world, "explore", "Lamp", "--preset", "slow", "--seed", "9")
        #expect(run.status == 0 && run.output.contains("MTU 23"), "\(run)")
        let unknown = try await Tool.run(["--backend", "emulator", "--preset", "fast", "scan"])
        #expect(unknown.status != 0 && unknown.errors.contains("there is no preset \"fast\": use "), "\(unknown)")
        let real = try await Tool.run(["--backend", "bluez", "--seed", "3", "scan"])
        #expect(real.status == 2 && real.errors.contains("need emulated devices"), "\(real)")
    }

    @Test(arguments: [
        ["world", "schema"], ["doctor"], ["completions", "bash"], ["report", "t.jsonl"], ["world", "show"],
        ["world", "move", "Lamp", "far"], ["world", "watch"],
    ])
    func aCommandThatUsesNoDevicesRefusesTheirOptions(command: [String]) async throws {
        let run = try await Tool.run(command + ["--seed", "3", "--capture", "air.pcapng"])
        #expect(run.status == 2, "\(run)")
        #expect(run.errors.contains("uses no devices: omit --seed and --capture"), "\(run)")
    }

    @Test func aFileIncludesOthersOfBothFormats() async throws {
        let lamp = "devices:\n  - {name: Lamp, advertising: [{data: {localName: Lamp}}]}\n"
        try await Tool.withFile("include: [lamp.yaml]\npreset: slow", "world.yaml") { file in
            let included = (file as NSString).deletingLastPathComponent + "/lamp.yaml"
            try lamp.write(toFile: included, atomically: true, encoding: .utf8)
            let run = try await Tool.run(["explore", "Lamp", "--backend", "emulator", "--world", file])
            #expect(run.status == 0 && run.output.contains("MTU 23"), "\(run)")
            let json = try await Tool.run(["world", "convert", file])
            let world = try WorldDescription(json: Data(json.output.utf8))
            #expect(world.devices.map(\.name) == ["Lamp"] && world.preset == .slow)
            #expect(!json.output.contains("hosts"), "\(json)")
            let mistaken = lamp + "  - {name: B, rssi: 99}\n"
            try mistaken.write(toFile: included, atomically: true, encoding: .utf8)
            let check = try await Tool.run(["world", "check", file])
            #expect(check.status == 1 && check.output.contains("lamp.yaml:3:15: devices[1].rssi: "), "\(check)")
        }
    }

    @Test func theVariableMayNameAFileOfYAML() async throws {
        let yaml = "preset: instant\ndevices: [{name: Lamp, advertising: [{data: {localName: Lamp}}]}]"
        let run = try await Tool.withFile(yaml, "world.yaml") { file in
            try await Tool.run(
                ["--backend", "emulator", "explore", "Lamp"], environment: ["COREBLUETOOTH_WORLD": file])
        }
        #expect(run.status == 0, "\(run)")
    }

    @Test func oneEntryIsManyDevices() async throws {
        let world = """
            preset: instant
            devices: [{name: "Tag {n}", count: 30, advertising: [{data: {localName: "Tag {n}"}, interval: 100 ms}]}]
            """
        let run = try await tool(world, "scan", "--duration", "2", "--json")
        let names = try Set(run.objects().compactMap { $0["name"] as? String })
        #expect(names == Set((1...30).map { "Tag \($0)" }), "\(run)")
    }

    @Test func amongDevicesOfOneNameTheAddressChooses() async throws {
        let world = """
            preset: instant
            devices: [{name: Tag, count: 2, address: "C0:00:00:00:00:FF", advertising: [{data: {localName: Tag}}]}]
            """
        let several = try await tool(world, "explore", "Tag")
        #expect(several.status != 0 && several.errors.contains("several devices are named Tag"), "\(several)")
        let one = try await tool(world, "explore", "C0:00:00:00:01:00")
        #expect(one.status == 0 && one.output.contains("C0:00:00:00:01:00"), "\(one)")
    }

    @Test func allMistakesOfAFileAreReportedAtOnce() async throws {
        let yaml = """
            sead: 1
            devices:
              - name: A
                rssi: 99
                maximumMTU: 3
              - 3
            script:
              - {at: 1 s}
            """
        let run = try await Tool.withFile(yaml, "world.yaml") { try await Tool.run(["world", "check", $0]) }
        #expect(run.status == 1)
        #expect(run.errors.contains("world.yaml: 5 mistakes"), "\(run)")
        let places = run.lines.map { $0.split(separator: "/").last.map { $0.prefix { $0 != " " } } }
        #expect(
            places == [
                "world.yaml:1:1:", "world.yaml:4:5:", "world.yaml:5:5:", "world.yaml:6:5:", "world.yaml:8:6:",
            ], "\(run)")
    }

    @Test func aCheckPrintsObjects() async throws {
        let json = "{\n  \"devices\": [{\"name\": \"A\", \"rssi\": 99}],\n  \"preset\": \"fast\"\n}"
        let run = try await Tool.withFile(json, "world.json") { try await Tool.run(["world", "check", $0, "--json"]) }
        #expect(run.status == 1)
        let mistakes = try run.objects()
        #expect(mistakes.map { $0["path"] as? String } == ["devices[0].rssi", "preset"], "\(run)")
        #expect(mistakes.map { $0["line"] as? Int } == [2, 3])
        #expect(mistakes.map { $0["column"] as? Int } == [29, 3])
    }

    @Test func aFieldNameWithControlCharactersIsPrintedEscaped() async throws {
        let json = #"{"de\u001bvices": []}"#
        let run = try await Tool.withFile(json, "world.json") { try await Tool.run(["world", "check", $0]) }
        let text = run.output + run.errors
        #expect(run.status == 1 && text.contains(#"de\u{1B}vices: there is no such field"#), "\(run)")
    }

    @Test func aGoodFileHasNoMistakes() async throws {
        let yaml = "devices: [{name: 'Tag {n}', count: 3}]\nscript: [{at: 1 s, device: Tag 2, rssi: -60}]"
        let run = try await Tool.withFile(yaml, "world.yaml") { try await Tool.run(["world", "check", $0]) }
        #expect(run.status == 0 && run.output.hasSuffix("world.yaml: no mistakes; 3 devices, 1 step\n"), "\(run)")
        let none = try await Tool.run(["world", "check", "/nonexistent/world.json"])
        #expect(none.status == 2 && none.errors.contains("cannot be read"), "\(none)")
    }

    @Test func yamlIsConvertedToJSONThatEveryProgramReads() async throws {
        let yaml = """
            seed: 3  # a comment
            devices: [{name: Tag, count: 2, packetLossRate: 0.1, services: [{uuid: 1809}]}]
            """
        let run = try await Tool.withFile(yaml, "world.yaml") { try await Tool.run(["world", "convert", $0]) }
        #expect(run.status == 0, "\(run)")
        let world = try WorldDescription(json: Data(run.output.utf8))
        #expect(world.seed == 3 && world.devices.map(\.name) == ["Tag", "Tag"])
        #expect(world.devices.first?.services.first?.uuid == "1809")
        let bad = try await Tool.withFile("sead: 3", "world.yaml") { try await Tool.run(["world", "convert", $0]) }
        #expect(bad.status == 2 && bad.output.isEmpty && bad.errors.contains("world.yaml:1:1: sead: "), "\(bad)")
    }

    @Test func theSchemaIsThatOfThePackage() async throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
            "../../../Schemas/world.schema.json")
        let run = try await Tool.run(["world", "schema"])
        #expect(try run.status == 0 && run.output == String(contentsOf: file, encoding: .utf8))
    }

    @Test func theScriptRunsWhileTheToolScans() async throws {
        let world = """
            preset: instant
            devices: [{name: Tag, proximity: outOfRange, advertising: [{data: {localName: Tag}}]}]
            script: [{at: 300 ms, device: Tag, proximity: near}]
            """
        let found = try await tool(world, "scan", "--first", "--name", "Tag", "--timeout", "30")
        #expect(found.status == 0 && found.output.contains("Tag"), "\(found)")
    }

    @Test func aMistakeOfManyDevicesHasThePlaceOfTheirEntry() async throws {
        let run = try await tool("devices:\n  - {name: A, count: 40}\n  - name: B\n    rssi: 99\n", "scan")
        #expect(run.status == 2)
        #expect(run.errors.contains("world.yaml:4:5: devices[1].rssi: "), "\(run)")
    }
}
#endif
