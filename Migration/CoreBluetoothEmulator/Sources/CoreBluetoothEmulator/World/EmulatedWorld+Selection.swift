import BluetoothEmulator
import Foundation

/// Which world managers, ``Emulator`` and ``EmulatorBus`` act on.
extension EmulatedWorld {
    private struct Selection {
        /// The worlds of emulators that tasks select; the emulator is gone where it is no more in use.
        var attached: [ObjectIdentifier: EmulatedWorld] = [:]
        /// The world of the process, which keeps its emulator alive.
        var own: (world: EmulatedWorld, emulator: EmulatorBackend)?

        /// The world of the process, made with the first use.
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
    /// `CBManager.withBackend`), or else that of the process.
    static var current: EmulatedWorld { currentWithEmulator.world }

    /// The same, with its emulator.
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

    /// Ends the current world; the process gets a new emulator with the next use, an emulator that a task selects stays.
    static func reset() {
        let world = current
        selection.withLock { selection in
            if selection.own?.world === world { selection.own = nil }
        }
        world.end()
    }
}

/// What the environment says about the world of the process.
struct WorldEnvironment: Equatable {
    /// `COREBLUETOOTH_EMULATOR_TIME`: how many times faster than the machine's time, more than 0; real time if absent.
    var time = EmulatorTime.real
    /// `COREBLUETOOTH_EMULATOR_SEED`: from which all chance follows; 1 if absent.
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
