#if Emulator
import BluetoothEmulator
#endif

/// The seed and the preset that the command line chooses; they override those of a world file.
struct EmulatorChoice: Sendable {
    var seed: UInt64?
    /// A name from ``presets``.
    var preset: String?

    /// Whether nothing is chosen.
    var isEmpty: Bool { seed == nil && preset == nil }

    #if Emulator
    /// The names of all presets.
    static let presets = EmulatorPreset.allCases.map(\.rawValue)

    func applied(to world: WorldDescription) -> WorldDescription {
        var chosen = world
        chosen.seed = seed ?? world.seed
        chosen.preset = preset.flatMap(EmulatorPreset.init(rawValue:)) ?? world.preset
        return chosen
    }
    #else
    /// The names of all presets; a build without the emulator has none.
    static let presets: [String] = []
    #endif
}
