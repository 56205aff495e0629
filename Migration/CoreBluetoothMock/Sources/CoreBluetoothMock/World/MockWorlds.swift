import BluetoothEmulator
import CoreBluetooth

/// The lookup of the world of a static call.
///
/// It is the world of the emulator that the task has selected, otherwise that of the process, which is created when
/// needed.
enum MockWorlds {
    private struct Own {
        let world: MockWorld
        let emulator: Emulator
    }

    private struct State {
        var own: Own?
        /// The worlds of selected emulators, as long as these live.
        var attached: [ObjectIdentifier: MockWorld] = [:]
        var time: EmulatorTime?
        var hasSimulated = false
    }

    private static let state = Protected(State())

    /// Whether this process has called any `simulate…` function.
    static var hasSimulated: Bool { state.withLock { $0.hasSimulated } }

    /// The world of a `simulate…` function.
    static var simulated: MockWorld {
        state.withLock { $0.hasSimulated = true }
        return current.world
    }

    /// The world of this call, created if needed, with its emulator.
    static var current: (world: MockWorld, emulator: Emulator) {
        let selected = Emulator.selected
        return state.withLock { state in
            if let selected, selected !== state.own?.emulator { return (attach(selected, &state), selected) }
            let own = state.own ?? makeOwn(time: state.time)
            state.own = own
            return (own.world, own.emulator)
        }
    }

    /// The world of this call; nil before its creation.
    static var present: MockWorld? {
        let selected = Emulator.selected
        return state.withLock { state in
            guard let selected, selected !== state.own?.emulator else { return state.own?.world }
            return state.attached[ObjectIdentifier(selected)].flatMap { $0.emulator === selected ? $0 : nil }
        }
    }

    /// Sets the kind of time of the process's worlds that are created from now on.
    ///
    /// - Returns: Whether no such world exists yet.
    static func setTime(_ time: EmulatorTime) -> Bool {
        state.withLock { state in
            state.time = time
            return state.own == nil
        }
    }

    /// Ends the simulation of this call's world; the process then gets a new world.
    static func tearDown() {
        guard let world = present else { return }
        world.tearDown()
        // The emulator is released outside the lock, with its last manager.
        let old = state.withLock { state -> Own? in
            guard state.own?.world === world else { return nil }
            defer { state.own = nil }
            return state.own
        }
        withExtendedLifetime(old) {}
    }

    private static func attach(_ emulator: Emulator, _ state: inout State) -> MockWorld {
        let key = ObjectIdentifier(emulator)
        if let known = state.attached[key], known.emulator === emulator { return known }
        state.attached = state.attached.filter { $0.value.emulator != nil }
        var configuration = emulator.configuration
        // The module computes the variation itself, as a test sets it at any time.
        configuration.rssiDeviation = 0
        configuration.maximumMTU = 517
        emulator.configure(configuration)
        let world = MockWorld(emulator)
        state.attached[key] = world
        return world
    }

    private static func makeOwn(time: EmulatorTime?) -> Own {
        var configuration = EmulatorConfiguration.default
        configuration.stateDelay = .zero
        configuration.connectionDelay = .zero
        configuration.disconnectionDelay = .zero
        configuration.rssiDeviation = 0
        configuration.maximumMTU = 517
        let settings = MockEnvironment.process
        let emulator = Emulator(
            configuration: configuration, time: time ?? settings.time ?? .real, seed: settings.seed ?? 1)
        emulator.host.setPower(false)
        return Own(world: MockWorld(emulator), emulator: emulator)
    }
}
