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
}
#endif
