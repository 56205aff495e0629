import AsyncBluetooth
import BluetoothEmulator
import CoreBluetooth
import VirtualTasks

/// A contract's stage for code that awaits: its tasks, and its time.
struct AsyncStage: Sendable {
    let stage: any ContractStage
    let backend: CBBackendSelection
    /// In virtual time: what drives it, and the tasks that it waits for.
    private let world: (emulator: Emulator, tasks: HoldingExecutor)?
    private let deadline: Duration = .seconds(60)

    /// The emulated radio; time goes on while something is played, and with each verb.
    init(_ stage: EmulatorStage) {
        self.stage = stage
        backend = .emulator(stage.emulator)
        world = (stage.emulator, HoldingExecutor(stage.emulator))
    }

    /// A real radio, in real time.
    init(_ stage: BlueZStage) {
        self.stage = stage
        #if BlueZ
        backend = .bluez()
        #else
        backend = .automatic()
        #endif
        world = nil
    }

    func begin() async throws { try await stage.begin() }

    /// A central of its own for each scenario.
    func makeCentral() -> Central { Central(backend: backend, taskExecutor: world?.tasks) }

    func makeServer() -> PeripheralServer { PeripheralServer(backend: backend, taskExecutor: world?.tasks) }

    /// Asks the peers; not while something is played.
    @discardableResult
    func perform(_ verb: PeerVerb) async throws -> PeerReply { try await stage.perform(verb) }

    // MARK: Time

    /// Runs something to its end.
    func play<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) async throws -> Result {
        guard let world else { return try await AsyncBluetooth.withTimeout(deadline, body) }
        return try await world.tasks.play(within: deadline, body)
    }

    /// Begins something that goes on while other things are played, and with the verbs.
    func start<Result: Sendable>(
        _ body: @escaping @Sendable () async throws -> Result
    ) -> Task<Result, any Error> { Task(executorPreference: world?.tasks, operation: body) }

    /// Runs something, but not longer than `limit` of the stage's time; within what is played.
    func withTimeout<Result: Sendable>(
        _ limit: Duration, _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        guard let world else { return try await AsyncBluetooth.withTimeout(limit, body) }
        return try await AsyncBluetooth.withTimeout(limit, clock: world.emulator.swiftClock, body)
    }

    /// Keeps a connection up, in the stage's time.
    func maintainConnection(of peripheral: Peripheral) -> EventSequence<ConnectionEvent> {
        let policy = ReconnectionPolicy.backoff(initial: .milliseconds(100))
        guard let world else { return peripheral.maintainConnection(policy) }
        return peripheral.maintainConnection(policy, clock: world.emulator.swiftClock)
    }
}
