import AsyncBluetooth
import BluetoothEmulator
import CoreBluetooth
import Testing

/// The context of a scenario with async code: a fixture, a central, and the usual steps.
///
/// On the emulator time advances while a body runs, and with each action.
struct AsyncContext: Sendable {
    let fixture: any ContractFixture
    let central: Central
    /// The emulator whose virtual time waits for the tasks; nil in real time.
    private let emulator: Emulator?
    private let deadline: Duration = .seconds(60)

    init(_ fixture: any ContractFixture) {
        self.fixture = fixture
        emulator = (fixture as? EmulatorFixture)?.emulator
        central = Central(backend: fixture.backend)
    }

    /// Runs a body to its end.
    func run<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) async throws -> Result {
        guard let emulator else { return try await withTimeout(deadline, body) }
        return try await emulator.run(within: deadline, body)
    }

    /// Starts a body that continues while other bodies run, and with each action.
    func start<Result: Sendable>(
        _ body: @escaping @Sendable () async throws -> Result
    ) -> Task<Result, any Error> { Task(executorPreference: emulator?.executor, operation: body) }

    /// Lets the peers perform an action; not while a body runs.
    @discardableResult
    func perform(_ action: PeerAction) async throws -> PeerReply { try await fixture.perform(action) }

    /// Scans until the peer is discovered with its name.
    func find(_ peer: ContractPeer = .contract) async throws -> Peripheral {
        try await run { [central] in try await Self.discovered(peer, by: central).peripheral }
    }

    /// Returns the discovery of a peer, once it has the name.
    static func discovered(
        _ peer: ContractPeer, by central: Central, services: [CBUUID] = []
    ) async throws -> DiscoveredPeripheral {
        for try await found in central.scan(for: services) where found.advertisement.localName == peer.advertisedName {
            return found
        }
        throw CancellationError()
    }

    // MARK: The peripheral role

    /// Publishes a service, in place of the peers.
    func serve(_ characteristics: [ServedCharacteristic]) async throws -> PeripheralServer {
        try await perform(.advertise(.contract, false))
        let server = PeripheralServer(backend: fixture.backend)
        let uuid = CBUUID(.served)
        try await run {
            try await server.add(ServedService(uuid, characteristics: characteristics))
            try await server.startAdvertising(name: "Served", services: [uuid])
        }
        return server
    }

    /// Connects a central across the air to the advertiser of a service.
    func connect(service: ContractAttribute) async throws -> CentralAcross {
        let one = CentralAcross(.one, in: ScenarioRun("async", on: fixture))
        try await one.connect(to: service)
        return one
    }

    /// Returns the reports of the central across the air, once there are at least `count`.
    func lines(_ count: Int) async throws -> [String] { try await fixture.lines(of: .one, atLeast: count) }

    /// Returns the error of a body that must fail.
    func failure<Result: Sendable>(
        at location: SourceLocation = #_sourceLocation, of body: @escaping @Sendable () async throws -> Result
    ) async throws -> BluetoothError {
        let error = try await run { () -> BluetoothError? in
            do {
                _ = try await body()
                return nil
            } catch let error as BluetoothError {
                return error
            }
        }
        return try #require(error, sourceLocation: location)
    }
}

extension PathIdentifier {
    /// Creates the path of an attribute from the suite's names.
    ///
    /// - Parameter instance: The position of the last one among those of its UUID, from 1.
    init(_ attributes: ContractAttribute..., instance: Int = 1) {
        self.init(stringLiteral: attributes.map(\.uuid).joined(separator: "/") + (instance > 1 ? "#\(instance)" : ""))
    }
}

extension AsyncSequence where Self: Sendable, Element: Sendable {
    /// Returns the first elements.
    func first(_ count: Int) async throws -> [Element] {
        var elements: [Element] = []
        for try await element in self {
            elements.append(element)
            if elements.count == count { break }
        }
        return elements
    }
}
