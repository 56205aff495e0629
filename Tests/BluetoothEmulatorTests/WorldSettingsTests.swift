import BluetoothEmulator
import Foundation
import Testing

/// The seed and the preset of a world file, and the settings that take precedence.
@Suite struct WorldSettingsTests {
    private func world(_ json: String) throws -> WorldDescription { try WorldDescription(json: Data(json.utf8)) }

    @Test(arguments: EmulatorPreset.allCases)
    func aWorldTakesThePresetAndTheSeedOfItsFile(preset: EmulatorPreset) throws {
        let world = try world(#"{"seed": 18446744073709551615, "preset": "\#(preset.rawValue)"}"#)
        let emulator = try Emulator(world: world, time: .virtual)
        #expect(emulator.configuration == preset.configuration)
        #expect(emulator.seed == .max)
    }

    @Test func anArgumentComesFirstEvenIfItIsTheDefault() throws {
        let world = try world(#"{"seed": 9, "preset": "slow"}"#)
        let emulator = try Emulator(world: world, configuration: .default, time: .virtual, seed: 1)
        #expect(emulator.configuration == .default)
        #expect(emulator.seed == 1)
    }

    @Test func withoutEitherTheSettingsAreTheDefaultOnes() throws {
        let emulator = try Emulator(world: world("{}"), time: .virtual)
        #expect(emulator.configuration == .default)
        #expect(emulator.seed == 1)
    }

    @Test func advertisingCollidesWhereTheWorldSaysSoWhateverTheSettings() throws {
        let world = try world(#"{"advertisingCollides": true, "preset": "slow"}"#)
        var slow = EmulatorConfiguration.slow
        slow.advertisingCollides = true
        #expect(try Emulator(world: world, time: .virtual).configuration == slow)
        #expect(try Emulator(world: world, configuration: .instant, time: .virtual).configuration.advertisingCollides)
        let present = try Emulator(world: world, time: .virtual).presentWorld
        #expect(present.preset == .slow && present.advertisingCollides)
    }

    @Test func theFileOfAnEmulatorHasThemToo() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("world-\(UUID()).json")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(#"{"seed": 9, "preset": "instant"}"#.utf8).write(to: file)
        let emulator = try Emulator(worldFile: file.path, time: .virtual)
        #expect(emulator.configuration == .instant)
        #expect(emulator.seed == 9)
        #expect(try Emulator(worldFile: file.path, time: .virtual, seed: 3).seed == 3)
    }

    @Test(arguments: [
        (#"{"preset": "fast"}"#, "preset: \"fast\": the presets are default, instant, slow, unreliable"),
        (#"{"seed": "a"}"#, "seed: \"a\" is text, and a number is wanted here"),
    ])
    func aMistakeNamesFieldAndRule(json: String, message: String) {
        let error = #expect(throws: DescriptionError.self) { try world(json) }
        #expect(error?.description == message)
    }

    @Test(arguments: ["-1", "1.5", "18446744073709551616"])
    func aSeedIsAWholeNumberOf64Bits(seed: String) {
        let error = #expect(throws: DescriptionError.self) { try world(#"{"seed": \#(seed)}"#) }
        #expect(error?.description == "seed: a number that is whole and not too large or too small is wanted here")
    }
}
