import BluetoothBackend
import BluetoothEmulator
import CoreBluetooth

/// The emulator in virtual time, with a separate world for each scenario.
struct EmulatorFixture: ContractFixture {
    let name = "emulator"
    static let features = Set(ContractFeature.allCases)
    let emulator: Emulator
    let backend: CBBackendSelection
    private let world: ContractWorld
    private let time: VirtualWorldTime

    /// - Parameter wrap: The wrapper between the managers and the emulator.
    init(
        configuration: EmulatorConfiguration = .default, seed: UInt64,
        wrappedIn wrap: ((Emulator) throws -> any BluetoothBackend)? = nil
    ) throws {
        emulator = Emulator(configuration: configuration, time: .virtual, seed: seed)
        backend = if let wrap { .custom(try wrap(emulator)) } else { .emulator(emulator) }
        time = VirtualWorldTime(emulator: emulator)
        world = try ContractWorld(emulator, time, .app)
    }

    /// The trace of the world, for a failing scenario.
    var worldTrace: [String] { emulator.trace.map(\.description) }

    func begin() async throws {}

    func wait(for trace: ContractTrace, until condition: @escaping @Sendable () -> Bool) async throws {
        try await advance(until: condition)
    }

    func lines(of central: ContractCentral, atLeast count: Int) async throws -> [String] {
        guard count > 0 else { return world.centrals.known(central)?.lines ?? [] }
        let central = try world.centrals.central(central)
        try await advance(until: { central.lines.count >= count })
        return central.lines
    }

    private func advance(until condition: @escaping @Sendable () -> Bool) async throws {
        try await time.advance(until: { [world] in
            world.centrals.pump()
            return condition()
        })
    }

    @discardableResult
    func perform(_ action: CentralAction, by central: ContractCentral) async throws -> PeerReply {
        let reply = try await world.centrals.central(central).perform(action)
        try await time.advance(by: .milliseconds(1))
        return reply
    }

    @discardableResult
    func perform(_ action: PeerAction) async throws -> PeerReply {
        let reply = try await world.perform(action)
        try await time.advance(by: .milliseconds(1))
        return reply
    }
}
