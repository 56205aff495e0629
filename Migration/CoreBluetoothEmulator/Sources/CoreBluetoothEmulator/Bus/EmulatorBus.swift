public import BluetoothEmulator

/// The emulated world as tests see it: its settings and the data about its managers.
///
/// The world is that of the task's emulator (the trait `.emulator(…)`, `EmulatorTestCase`, `CBManager.withBackend`),
/// otherwise that of the process. Managers are named by identifiers: a peripheral manager by its `identifier`, a
/// central manager by that of the `EmulatedCBCentral` that peripheral managers receive.
public actor EmulatorBus {
    /// The bus.
    public static let shared = EmulatorBus()

    private init() {}

    /// The ways in which managers of several processes connect.
    public enum TransportMode: Sendable {
        /// The managers do not connect: each process has a separate world.
        case inProcess
        /// The managers connect over a transport; not supported here, see ``EmulatorBus/configure(transport:)``.
        case distributed(any EmulatorTransport)
    }

    // MARK: Settings

    /// Applies settings from now on.
    public func configure(_ configuration: EmulatorConfiguration) { world.configure(configuration) }

    /// The settings in force.
    public func getConfiguration() -> EmulatorConfiguration { world.configuration }

    /// Ends all managers without a callback (their state is `.unknown` from then on), and removes everything: settings,
    /// links, pairings, preserved states, registrations.
    ///
    /// The process gets a new emulator with the next use. An emulator that the task selected stays, with its other
    /// devices and with the pairings of ended managers, which no later manager uses.
    public func reset() { EmulatedWorld.reset() }

    /// Sets the way in which managers of several processes connect.
    ///
    /// Two processes do not share a world: `.distributed` is logged and nothing is routed. Use EmulatedBlueZ for that.
    public func configure(transport: TransportMode) {
        if case .distributed(let transport) = transport {
            logWarning("nothing is sent over \(type(of: transport)): processes do not share an emulated world")
        }
    }

    // MARK: The emulator

    /// The emulator of the current world: for faults, other devices, the trace and the time.
    ///
    /// An extension of this package; any thread.
    public nonisolated var emulator: BluetoothEmulator.Emulator { EmulatedWorld.currentWithEmulator.emulator }

    nonisolated var world: EmulatedWorld { EmulatedWorld.current }
}
