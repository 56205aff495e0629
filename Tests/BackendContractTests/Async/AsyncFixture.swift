import AsyncBluetooth
import BluetoothEmulator
import CoreBluetooth

/// A contract's fixture for code that awaits: its tasks, and its time.
struct AsyncFixture: Sendable {
    let fixture: any ContractFixture
    let backend: CBBackendSelection
    /// Whose virtual time waits for the tasks; nil in real time.
    private let emulator: Emulator?
    private let deadline: Duration = .seconds(60)

    /// The emulated radio; time goes on while something is played, and with each action.
    init(_ fixture: EmulatorFixture) {
        self.fixture = fixture
        backend = .emulator(fixture.emulator)
        emulator = fixture.emulator
    }

    /// A real radio, in real time.
    init(_ fixture: BlueZFixture) {
        self.fixture = fixture
        #if BlueZ
        backend = .bluez()
        #else
        backend = .automatic()
        #endif
        emulator = nil
    }

    func begin() async throws { try await fixture.begin() }

    /// A central of its own for each scenario.
    func makeCentral() -> Central { Central(backend: backend) }

    func makeServer() -> PeripheralServer { PeripheralServer(backend: backend) }

    /// Asks the peers; not while something is played.
    @discardableResult
    func perform(_ action: PeerAction) async throws -> PeerReply { try await fixture.perform(action) }

    // MARK: Time

    /// Runs something to its end.
    func play<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) async throws -> Result {
        guard let emulator else { return try await withTimeout(deadline, body) }
        return try await emulator.run(within: deadline, body)
    }

    /// Begins something that goes on while other things are played, and with the actions.
    func start<Result: Sendable>(
        _ body: @escaping @Sendable () async throws -> Result
    ) -> Task<Result, any Error> { Task(executorPreference: emulator?.executor, operation: body) }
}
