#if BlueZ
import BluetoothDBus
import BluetoothEmulator
import BluetoothSupport
import CoreBluetooth
import EmulatedBlueZ
import ScriptedBlueZ

@testable import BlueZ

/// The BlueZ backend and an emulated `bluetoothd`, on a private bus, in real time.
///
/// Its name is that of a real `bluetoothd`: the same differences are expected of both.
final class EmulatedBlueZFixture: ContractFixture {
    /// The features; channels and the signal strength of links do not use D-Bus, and nothing restores an app here.
    static let features = Set(ContractFeature.allCases).subtracting([.restoration, .channels, .connectedRSSI])

    let name: String
    let backend: CBBackendSelection
    private let time = RealWorldTime()
    let bus: PrivateBus
    let world: ContractWorld
    private let configuration: EmulatedBlueZConfiguration
    private let service: Lock<EmulatedBlueZ?>
    /// Another program on the bus.
    let program: DBusConnection

    /// - Parameter worldTime: The time of the devices; with a scale, they advertise sooner.
    init(
        _ dialect: BlueZDialect, _ notifications: BlueZConfiguration.NotificationMethod = .startNotify,
        worldTime: EmulatorTime = .real
    ) async throws {
        name = "bluez \(dialect.rawValue)"
        bus = try PrivateBus()
        let emulator = Emulator(configuration: .instant, time: worldTime, seed: 1)
        world = try ContractWorld(emulator, time, .stack)
        configuration = EmulatedBlueZConfiguration(dialect: dialect, disconnectDelay: .zero)
        program = try await DBusConnection.open(bus)
        let address = bus.address.text ?? ""
        service = Lock(try await EmulatedBlueZ.serve(emulator, on: address, configuration: configuration))
        backend = .custom(
            BlueZBackend(
                BlueZConfiguration(
                    busAddress: address, acceptsJustWorksPairing: true, notificationMethod: notifications),
                timings: Self.timings, peripheralTimings: Self.peripheralTimings))
    }

    /// The timings, which are short because the daemon has no latency.
    private static var timings: BlueZTimings {
        var timings = BlueZTimings()
        timings.connectRetry = .milliseconds(20)
        timings.foreignLinkGrace = .milliseconds(250)
        timings.powerLoss = .milliseconds(100)
        timings.linkLoss = .milliseconds(500)
        timings.serviceChanges = .milliseconds(50)
        timings.rebondConfirmation = .milliseconds(200)
        timings.initialAdapterTimeout = .milliseconds(200)
        timings.discoveryRetry = .milliseconds(50)
        return timings
    }

    private static var peripheralTimings: PeripheralTimings {
        var timings = PeripheralTimings()
        timings.quiescence = .milliseconds(100)
        return timings
    }

    func begin() async throws {}

    func wait(for trace: ContractTrace, until condition: @escaping @Sendable () -> Bool) async throws {
        try await time.advance(until: condition)
    }

    func lines(of central: ContractCentral, atLeast count: Int) async throws -> [String] {
        guard count > 0 else { return world.centrals.known(central)?.lines ?? [] }
        let central = try world.centrals.central(central)
        try await time.advance(until: { central.lines.count >= count })
        return central.lines
    }

    /// Performs an action after the app's earlier messages have arrived, as on the air, where a request takes longer.
    @discardableResult
    func perform(_ action: CentralAction, by central: ContractCentral) async throws -> PeerReply {
        try await deliverMessages()
        return try await world.centrals.central(central).perform(action)
    }

    @discardableResult
    func perform(_ action: PeerAction) async throws -> PeerReply {
        switch action {
        case .daemon(let isRunning): try await setDaemon(isRunning: isRunning)
        case .otherApp(let isConnected): try await program.connectToContractPeer(isConnected)
        default: return try await world.perform(action)
        }
        return PeerReply()
    }

    // MARK: The machine

    /// Unplugs the adapter of the managers' host, or plugs it in.
    func setPlugged(_ isPlugged: Bool) { world.emulator.host.setPlugged(isPlugged) }

    private func setDaemon(isRunning: Bool) async throws {
        if isRunning {
            let new = try await EmulatedBlueZ.serve(
                world.emulator, on: bus.address.text, configuration: configuration)
            service.withLock { $0 = new }
        } else {
            let old = service.withLock { $0.take() }
            old?.stop()
            try await old?.waitUntilEnd()
            try await waitUntilNameIsFree()
        }
    }

    /// Returns after the bus, too, has noticed that the daemon is gone.
    private func waitUntilNameIsFree() async throws {
        for _ in 0..<10_000 {
            if try await !program.hasDaemon() { return }
        }
        throw ContractTimeout()
    }

    /// Returns when the daemon has received everything that was sent to it before.
    ///
    /// The bus reads waiting messages connection by connection, so those of the first round may be delivered earlier.
    private func deliverMessages() async throws {
        guard service.withLock({ $0 != nil }) else { return }
        for _ in 0..<2 { try await program.callDaemon(.root, "org.freedesktop.DBus.Peer", "Ping") }
    }
}

extension DBusConnection {
    /// Whether a daemon is on the bus.
    func hasDaemon() async throws -> Bool {
        let reply = try await call(
            to: BusDriver.name, path: .root, interface: BusDriver.name, member: "NameHasOwner", [.string("org.bluez")])
        return reply.first != .boolean(false)
    }

    /// Connects to the contract's peer as another program, or disconnects.
    func connectToContractPeer(_ isConnected: Bool) async throws {
        let address = ContractWorld.contractAddress.replacing(":", with: "_")
        guard let path = ObjectPath("/org/bluez/hci0/dev_\(address)") else { throw ContractTimeout() }
        try await callDaemon(path, "org.bluez.Device1", isConnected ? "Connect" : "Disconnect")
    }

    func callDaemon(
        _ path: ObjectPath, _ interface: String, _ member: String, _ arguments: [DBusValue] = []
    ) async throws {
        _ = try await call(to: "org.bluez", path: path, interface: interface, member: member, arguments)
    }
}
#endif
