import BluetoothBackend
public import BluetoothEmulator
public import CoreBluetooth

/// The environment of a program: the world of its devices, the backend of its managers, and the time of both.
///
/// A place serves one program.
public protocol ProgramPlace: Sendable {
    /// The world of the devices, and of the managers' host.
    var emulator: Emulator { get }

    /// Whether the world ends with the program, so that it can be checked for leaks.
    var endsWithItsProgram: Bool { get }

    /// Returns the backend for a new manager.
    func selection() throws -> CBBackendSelection

    /// Prepares the devices, which were just added to the world.
    func begin(_ devices: [EmulatedDevice]) async throws

    /// Returns the managers' identifier for a device; nil while they do not know it.
    func identifier(of device: EmulatedDevice) -> UUID?

    /// Returns the managers' identifier for the program's peripheral manager; nil if they cannot reach it.
    func serverIdentifier() -> UUID?

    /// Waits for a duration of the program, or for a corresponding time.
    func pass(_ duration: Duration) async throws

    /// Handles the immediate effects of a step, as far as they can be observed.
    func settle() async throws

    /// Waits until everything is done, but at most a limited time.
    ///
    /// - Parameter limit: The limit in virtual time.
    func rest(_ limit: Duration, until isDone: @escaping @Sendable () -> Bool) async throws

    /// Restarts the program that manages the adapter.
    func reset() async throws
}

/// The emulator itself, in virtual time.
struct VirtualProgramPlace: ProgramPlace {
    let emulator: Emulator
    private let wrap: @Sendable (Emulator) throws -> any BluetoothBackend

    /// Creates the world with a program's seed.
    init(_ program: Program, around wrap: @escaping @Sendable (Emulator) throws -> any BluetoothBackend) {
        var settings = ProgramWorld.configurations[program.configuration % ProgramWorld.configurations.count]
        settings.traceLimit = 10_000
        emulator = Emulator(configuration: settings, time: .virtual, seed: program.seed)
        self.wrap = wrap
    }

    var endsWithItsProgram: Bool { true }

    func selection() throws -> CBBackendSelection { .custom(try wrap(emulator)) }

    func begin(_ devices: [EmulatedDevice]) async throws {
        for device in devices { emulator.host.remember(device) }
    }

    func identifier(of device: EmulatedDevice) -> UUID? { device.identifier()?.uuid }

    func serverIdentifier() -> UUID? { emulator.hosts.lazy.compactMap(\.peripheral).first?.identifier()?.uuid }

    func pass(_ duration: Duration) async throws { try await emulator.advance(by: duration) }

    func settle() async throws { try await emulator.advance(by: .zero) }

    func rest(_ limit: Duration, until isDone: @escaping @Sendable () -> Bool) async throws {
        try await emulator.advance(by: limit)
    }

    func reset() async throws {
        emulator.host.reset()
        try await settle()
    }
}
