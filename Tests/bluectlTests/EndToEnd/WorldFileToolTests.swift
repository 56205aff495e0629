#if Emulator && os(Linux)
import Foundation
import Testing

/// What world files say, seen by the tool as a process.
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
