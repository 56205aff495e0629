import CoreBluetooth
import Testing

/// The context of a scenario of the central role: one manager, its trace, and the usual steps.
///
/// A peripheral is used from the scenario's task, as an app may use it from any thread.
final class ContractContext: ContractParticipant {
    let manager: CBCentralManager
    /// The state before the manager's queue could change it.
    let stateAtFirst: CBManagerState
    private var foundPeripherals: [CBPeripheral] = []
    /// The peripheral that was found last.
    var peripheral: CBPeripheral? { foundPeripherals.last }

    /// - Parameter identifier: The app's restore identifier, if it has one.
    init(_ run: ScenarioRun, restoring identifier: String? = nil) {
        let trace = ContractTrace()
        (manager, stateAtFirst, _) = Self.start(run.name) { queue in
            CBCentralManager(
                backend: run.fixture.backend, delegate: trace, queue: queue,
                options: identifier.map { [CBCentralManagerOptionRestoreIdentifierKey: $0] })
        }
        super.init(run, trace)
    }

    /// Creates another manager on the same adapter.
    func makeOther(restoring identifier: String? = nil) -> ContractContext {
        ContractContext(run, restoring: identifier)
    }

    /// Creates another manager, and waits until it is powered on.
    func makeOtherPoweredOn() async throws -> ContractContext {
        let other = makeOther()
        try await other.powerOn()
        return other
    }

    /// Waits for a sighting.
    func wait(
        forSighting what: String, at location: SourceLocation = #_sourceLocation,
        where matches: @escaping @Sendable (ContractTrace.Sighting) -> Bool
    ) async throws {
        try await wait(what, at: location) { [trace] in trace.sightings.contains(where: matches) }
    }

    /// Scans until the peer is seen with its name, then stops.
    func find(_ peer: ContractPeer = .contract, services: [ContractAttribute]? = nil) async throws -> CBPeripheral {
        try await powerOn()
        manager.scanForPeripherals(withServices: services?.map { CBUUID($0) })
        try await wait(forSighting: "a sighting of \(peer)") { $0.advertisedName == peer.advertisedName }
        manager.stopScan()
        guard
            let identifier = trace.sightings.last(where: { $0.advertisedName == peer.advertisedName })?.identifier,
            let peripheral = manager.retrievePeripherals(withIdentifiers: [identifier]).first
        else { throw ContractTimeout() }
        peripheral.delegate = trace
        foundPeripherals.append(peripheral)
        return peripheral
    }

    /// Finds and connects.
    func connect() async throws -> CBPeripheral {
        let peripheral = try await find()
        try await connect(peripheral)
        return peripheral
    }

    /// Connects, and discovers one service with all its characteristics.
    func connect(discovering service: ContractAttribute) async throws -> (CBPeripheral, CBService) {
        let peripheral = try await connect()
        return (peripheral, try await discover(service, of: peripheral))
    }

    /// Connects to a peripheral that was found before.
    func connect(_ peripheral: CBPeripheral, at location: SourceLocation = #_sourceLocation) async throws {
        manager.connect(peripheral)
        try await expect(.didConnect(), at: location)
    }

    /// Ends the app's own connection.
    func cancel(_ peripheral: CBPeripheral, at location: SourceLocation = #_sourceLocation) async throws {
        manager.cancelPeripheralConnection(peripheral)
        try await expect(.didDisconnect(), at: location)
    }

    /// Lets the peer close the link.
    func disconnectFromPeer(at location: SourceLocation = #_sourceLocation) async throws {
        try await perform(.disconnect)
        try await expect(.didDisconnect().failing(.peripheralDisconnected), at: location)
    }

    /// Connects to the same peer as another manager.
    func connect(sharing peripheral: CBPeripheral) async throws -> CBPeripheral {
        let shared = try #require(manager.retrievePeripherals(withIdentifiers: [peripheral.identifier]).first)
        shared.delegate = trace
        #expect(shared !== peripheral)
        #expect(shared.state == .disconnected)
        try await connect(shared)
        return shared
    }

    func discover(_ service: ContractAttribute, of peripheral: CBPeripheral) async throws -> CBService {
        peripheral.discoverServices([CBUUID(service)])
        try await skip(.didDiscoverServices())
        let found = try #require(peripheral.services?.first { $0.uuid == CBUUID(service) })
        peripheral.discoverCharacteristics(nil, for: found)
        try await skip(.didDiscoverCharacteristics(service))
        return found
    }

    /// Subscribes to a characteristic.
    func subscribe(
        to characteristic: CBCharacteristic, of peripheral: CBPeripheral,
        at location: SourceLocation = #_sourceLocation
    ) async throws {
        peripheral.setNotifyValue(true, for: characteristic)
        try await expect(.didUpdateNotificationState(characteristic.contract, true), at: location)
    }

    /// Waits until the peer has processed everything that was sent before, because a read follows it on the link.
    func roundTrip(_ peripheral: CBPeripheral, _ characteristic: CBCharacteristic) async throws {
        peripheral.readValue(for: characteristic)
        try await skip(.didUpdateValue(characteristic.contract))
    }
}

extension CBService {
    /// Returns a characteristic by its name, and by its position among several.
    func characteristic(_ name: ContractAttribute, _ index: Int = 0) throws -> CBCharacteristic {
        let all = (characteristics ?? []).filter { $0.uuid == CBUUID(name) }
        return try #require(all.indices.contains(index) ? all[index] : nil, "no characteristic \(name) #\(index)")
    }
}
