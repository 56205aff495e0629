import CoreBluetooth

/// The place where a scenario runs: a backend with the contract's peers across the air, and time.
protocol ContractFixture: Sendable {
    /// "emulator", or "bluez" with the daemon's version.
    var name: String { get }

    /// The features that not every fixture has, but this one.
    static var features: Set<ContractFeature> { get }

    /// Resets all peers.
    func begin() async throws

    /// The backend of managers and agents.
    var backend: CBBackendSelection { get }

    /// Lets the peers that are peripherals, or the surroundings of the managers' host, perform an action.
    @discardableResult
    func perform(_ action: PeerAction) async throws -> PeerReply

    /// Lets a peer that is a central perform an action.
    @discardableResult
    func perform(_ action: CentralAction, by central: ContractCentral) async throws -> PeerReply

    /// The reports of a central across the air, once there are so many, a line each.
    ///
    /// - Throws: ``ContractTimeout`` when the deadline passes, in the fixture's own time.
    func lines(of central: ContractCentral, atLeast count: Int) async throws -> [String]

    /// Returns when `condition` is true, which is checked after each traced callback.
    ///
    /// - Throws: ``ContractTimeout`` when the deadline passes, in the fixture's own time.
    func wait(for trace: ContractTrace, until condition: @escaping @Sendable () -> Bool) async throws
}

/// An awaited event did not come in time.
struct ContractTimeout: Error {}
