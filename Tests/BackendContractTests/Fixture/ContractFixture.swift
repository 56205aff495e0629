import CoreBluetooth

/// Where a scenario plays: a radio with the contract's peers across the air, and time.
protocol ContractFixture: Sendable {
    /// "emulator", or "bluez" with the daemon's version.
    var name: String { get }

    /// Whether the peers obey actions: false with a foreign peripheral.
    var hasPeer: Bool { get }

    /// What it has of what not every fixture has.
    static var features: Set<ContractFeature> { get }

    /// All peers as at the start.
    func begin() async throws

    /// A manager on the fixture's radio.
    func makeManager(
        delegate: any CBCentralManagerDelegate, queue: DispatchQueue, options: [String: Any]?
    ) -> CBCentralManager

    /// A manager of the other role on the fixture's radio.
    func makePeripheralManager(
        delegate: any CBPeripheralManagerDelegate, queue: DispatchQueue, options: [String: Any]?
    ) -> CBPeripheralManager

    /// An agent that speaks for all managers of the fixture.
    func makePairingAgent(
        _ capability: CBPairingCapability, delegate: any CBPairingAgentDelegate, queue: DispatchQueue
    ) -> CBPairingAgent

    /// Asks the peers that are peripherals, or what is around the managers' host.
    @discardableResult
    func perform(_ action: PeerAction) async throws -> PeerReply

    /// Asks a peer that is a central.
    @discardableResult
    func perform(_ action: CentralAction, by central: ContractCentral) async throws -> PeerReply

    /// What a central across the air has to tell, once there are so many lines.
    ///
    /// - Throws: ``ContractTimeout`` when the deadline passes, in the fixture's own time.
    func lines(of central: ContractCentral, atLeast count: Int) async throws -> [String]

    /// Returns when `condition` is true; asked whenever a callback was traced.
    ///
    /// - Throws: ``ContractTimeout`` when the deadline passes, in the fixture's own time.
    func wait(for trace: ContractTrace, until condition: @escaping @Sendable () -> Bool) async throws
}

/// What was waited for did not come.
struct ContractTimeout: Error {}
