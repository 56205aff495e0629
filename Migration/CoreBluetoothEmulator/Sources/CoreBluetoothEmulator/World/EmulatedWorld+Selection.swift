import BluetoothEmulator
import Foundation

/// The selection of the world that managers, ``Emulator`` and ``EmulatorBus`` use.
extension EmulatedWorld {
    private struct Selection {
        /// The worlds of emulators that tasks select; the emulator is nil once it is no longer used.
        var attached: [ObjectIdentifier: EmulatedWorld] = [:]
        /// The world of the process, which keeps its emulator alive.
        var own: (world: EmulatedWorld, emulator: EmulatorBackend)?

        /// Returns the world of the process, creating it with the first use.
        mutating func ownWorld() -> (world: EmulatedWorld, emulator: EmulatorBackend) {
            if let own { return own }
            let environment = WorldEnvironment(ProcessInfo.processInfo.environment)
            let emulator = EmulatorBackend(time: environment.time, seed: environment.seed)
            let new = (EmulatedWorld(emulator), emulator)
            own = new
            return new
        }
    }

    private static let selection = Guarded(Selection())

    /// The world of the emulator that the task selects (the trait `.emulator(…)`, `EmulatorTestCase`,
    /// `CBManager.withBackend`), otherwise that of the process.
    static var current: EmulatedWorld { currentWithEmulator.world }

    /// The current world, with its emulator.
    static var currentWithEmulator: (world: EmulatedWorld, emulator: EmulatorBackend) {
        let selected = EmulatorBackend.selected
        return selection.withLock { selection in
            guard let selected else { return selection.ownWorld() }
            selection.attached = selection.attached.filter { $0.value.emulator != nil }
            let key = ObjectIdentifier(selected)
            let world = selection.attached[key] ?? EmulatedWorld(selected)
            selection.attached[key] = world
            return (world, selected)
        }
    }

    /// Ends the current world; the process gets a new emulator with the next use, an emulator that a task selects
    /// stays.
    static func reset() {
        let world = current
        selection.withLock { selection in
            if selection.own?.world === world { selection.own = nil }
        }
        world.end()
    }
}

/// The environment's settings for the world of the process.
struct WorldEnvironment: Equatable {
    /// The value of `COREBLUETOOTH_EMULATOR_TIME`: the speed relative to the machine's time, more than 0; real time if
    /// absent.
    var time = EmulatorTime.real
    /// The value of `COREBLUETOOTH_EMULATOR_SEED`: the seed of all random choices; 1 if absent.
    var seed: UInt64 = 1

    init(_ environment: [String: String]) {
        if let text = environment["COREBLUETOOTH_EMULATOR_TIME"], !text.isEmpty {
            if let factor = Double(text), factor > 0, factor.isFinite {
                time = factor == 1 ? .real : .scaled(by: factor)
            } else {
                logWarning("COREBLUETOOTH_EMULATOR_TIME is ignored: \"\(text)\" is no number above 0")
            }
        }
        if let text = environment["COREBLUETOOTH_EMULATOR_SEED"], !text.isEmpty {
            if let number = UInt64(text) {
                seed = number
            } else {
                logWarning("COREBLUETOOTH_EMULATOR_SEED is ignored: \"\(text)\" is no number")
            }
        }
    }
}
