import AsyncBluetooth
import CoreBluetooth
import Testing

/// What a scenario for awaiting code works with: a fixture, a central, and the usual steps.
struct AsyncContext: Sendable {
    let fixture: AsyncFixture
    let central: Central

    init(_ fixture: AsyncFixture) {
        self.fixture = fixture
        central = fixture.makeCentral()
    }

    /// Runs something to its end.
    func play<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) async throws -> Result {
        try await fixture.play(body)
    }

    @discardableResult
    func perform(_ action: PeerAction) async throws -> PeerReply { try await fixture.perform(action) }

    /// Looks for a peer until its name is heard.
    func find(_ peer: ContractPeer = .contract) async throws -> Peripheral {
        try await play { [central] in try await Self.discovered(peer, by: central).peripheral }
    }

    /// What a scan tells of a peer, once it has told the name.
    static func discovered(
        _ peer: ContractPeer, by central: Central, services: [CBUUID] = []
    ) async throws -> DiscoveredPeripheral {
        for try await found in central.scan(for: services) where found.advertisement.localName == peer.advertisedName {
            return found
        }
        throw CancellationError()
    }

    // MARK: The peripheral role

    /// A service on the air, instead of the peers.
    func serve(_ characteristics: [ServedCharacteristic]) async throws -> PeripheralServer {
        try await perform(.advertise(.contract, false))
        let server = fixture.makeServer()
        let uuid = CBUUID(contract: "C0DE1000")
        try await play {
            try await server.add(ServedService(uuid, characteristics: characteristics))
            try await server.startAdvertising(name: "Served", services: [uuid])
        }
        return server
    }

    /// A central across the air, connected to who advertises a service.
    func connect(service: String) async throws -> CentralAcross {
        let one = CentralAcross(fixture.fixture, .one, scenario: "", differences: [:])
        try await one.perform(.connect(service: service))
        try await one.expect("connected")
        return one
    }

    /// What the central across the air has told, once there are so many lines.
    func lines(_ count: Int) async throws -> [String] { try await fixture.fixture.lines(of: .one, atLeast: count) }

    /// The error of something that must fail.
    func failure<Result: Sendable>(
        sourceLocation: SourceLocation = #_sourceLocation, of body: @escaping @Sendable () async throws -> Result
    ) async throws -> BluetoothError {
        let error = try await play { () -> BluetoothError? in
            do {
                _ = try await body()
                return nil
            } catch let error as BluetoothError {
                return error
            }
        }
        return try #require(error, sourceLocation: sourceLocation)
    }
}

extension ContractPeer {
    /// The name that it says on the air.
    var advertisedName: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() }
}

extension PathIdentifier {
    /// A path whose parts the suite writes short: `C0DE0001/C0DE010B#2`.
    init(contract path: String) {
        let parts = path.split(separator: "/").map { part in
            let ends = part.split(separator: "#", maxSplits: 1)
            return ([ContractPeer.full(String(ends[0]))] + ends.dropFirst().map(String.init)).joined(separator: "#")
        }
        guard let id = Self(parts.joined(separator: "/")) else { preconditionFailure("\(path) is no \(Self.self)") }
        self = id
    }
}

extension AsyncSequence where Self: Sendable, Element: Sendable {
    /// The first elements.
    func first(_ count: Int) async throws -> [Element] {
        var elements: [Element] = []
        for try await element in self {
            elements.append(element)
            if elements.count == count { break }
        }
        return elements
    }
}
