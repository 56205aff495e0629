import BluetoothBackend
public import BluetoothEmulator
public import CoreBluetooth

/// Where a program runs: the world of its devices, the backend of its managers, and how time passes for both.
///
/// Used by one program.
public protocol ProgramPlace: Sendable {
    /// The world of the devices, and of the host on which the managers are.
    var emulator: Emulator { get }

    /// Whether the world ends with the program, so that it can be checked for leaks.
    var endsWithItsProgram: Bool { get }

    /// The backend of a manager that is made now.
    func selection() throws -> CBBackendSelection

    /// Prepares the devices, which were added to the world just now.
    func begin(_ devices: [EmulatedDevice]) async throws

    /// The identifier that the managers have for a device; nil while they do not know it.
    func identifier(of device: EmulatedDevice) -> UUID?

    /// The identifier that the managers have for the program's peripheral manager; nil where they cannot reach it.
    func serverIdentifier() -> UUID?

    /// Waits as long as the program says, or a time that corresponds to it.
    func pass(_ duration: Duration) async throws

    /// Handles what a step led to at its instant, as far as that can be known.
    func settle() async throws

    /// Waits until everything is done, or as long as that may take at most.
    ///
    /// - Parameter limit: How long that is in virtual time.
    func rest(_ limit: Duration, until isDone: @escaping @Sendable () -> Bool) async throws

    /// The program that manages the adapter ends, and begins anew.
    func reset() async throws
}

/// The emulator itself, in virtual time.
struct VirtualProgramPlace: ProgramPlace {
    let emulator: Emulator
    private let wrap: @Sendable (Emulator) throws -> any BluetoothBackend

    /// The world that grows from a program's seed.
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
