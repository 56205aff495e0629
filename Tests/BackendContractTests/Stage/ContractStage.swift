import CoreBluetooth

/// Where a scenario plays: a radio with the contract peers on the air, and time.
protocol ContractStage: Sendable {
    /// "emulator", or "bluez" with the daemon's version.
    var name: String { get }

    /// Whether the peers obey verbs: false with a foreign peripheral.
    var hasPeer: Bool { get }

    /// Both peers as at the start.
    func begin() async throws

    /// A manager on the stage's radio.
    func makeManager(delegate: any CBCentralManagerDelegate, queue: DispatchQueue) -> CBCentralManager

    /// Asks the other side.
    @discardableResult
    func perform(_ verb: PeerVerb) async throws -> PeerReply

    /// Returns when `condition` is true; asked whenever a callback was traced.
    ///
    /// - Throws: ``ContractTimeout`` when the deadline passes, in the stage's own time.
    func wait(for trace: ContractTrace, until condition: @escaping @Sendable () -> Bool) async throws
}

/// What was waited for did not come.
struct ContractTimeout: Error {}
