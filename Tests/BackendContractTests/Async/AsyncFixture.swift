import AsyncBluetooth
import BluetoothEmulator
import CoreBluetooth

/// A contract's fixture for async code: its tasks, and its time.
struct AsyncFixture: Sendable {
    let fixture: any ContractFixture
    let backend: CBBackendSelection
    /// The emulator whose virtual time waits for the tasks; nil in real time.
    private let emulator: Emulator?
    private let deadline: Duration = .seconds(60)

    /// The emulator; time advances while something runs, and with each action.
    init(_ fixture: EmulatorFixture) {
        self.fixture = fixture
        backend = .emulator(fixture.emulator)
        emulator = fixture.emulator
    }

    /// BlueZ, in real time.
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

    /// Lets the peers perform an action; not while something runs.
    @discardableResult
    func perform(_ action: PeerAction) async throws -> PeerReply { try await fixture.perform(action) }

    // MARK: Time

    /// Runs something to its end.
    func run<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) async throws -> Result {
        guard let emulator else { return try await withTimeout(deadline, body) }
        return try await emulator.run(within: deadline, body)
    }

    /// Starts something that continues while other things run, and with each action.
    func start<Result: Sendable>(
        _ body: @escaping @Sendable () async throws -> Result
    ) -> Task<Result, any Error> { Task(executorPreference: emulator?.executor, operation: body) }
}
