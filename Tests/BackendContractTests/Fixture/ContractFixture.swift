import CoreBluetooth

/// The place where a scenario runs: a backend with the contract's peers across the air, and time.
protocol ContractFixture: Sendable {
    /// "emulator", or "bluez" with the daemon's version.
    var name: String { get }

    /// The features of this fixture that not every fixture has.
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

    /// Returns the reports of a central across the air, once there are at least `count`, one per line.
    ///
    /// - Throws: ``ContractTimeout`` when the deadline passes, in the fixture's time.
    func lines(of central: ContractCentral, atLeast count: Int) async throws -> [String]

    /// Returns when `condition` is true, which is checked after each traced callback.
    ///
    /// - Throws: ``ContractTimeout`` when the deadline passes, in the fixture's time.
    func wait(for trace: ContractTrace, until condition: @escaping @Sendable () -> Bool) async throws
}

/// The error of an expected event that did not occur in time.
struct ContractTimeout: Error {}
