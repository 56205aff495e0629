import CoreBluetooth
import Testing

/// What a scenario of the central role works with: one manager, its trace, and the usual steps.
///
/// A peripheral is used from the scenario's task, as an app may use it from any thread.
final class ContractContext: ContractParticipant {
    let manager: CBCentralManager
    /// Before its queue could tell any.
    let stateAtFirst: CBManagerState
    private var keptPeripherals: [CBPeripheral] = []
    /// What was found last.
    var peripheral: CBPeripheral? { keptPeripherals.last }

    /// - Parameter identifier: The app's restore identifier, if it has one.
    init(
        _ fixture: any ContractFixture, scenario: String, differences: [String: [String]],
        restoring identifier: String? = nil
    ) {
        let trace = ContractTrace()
        (manager, stateAtFirst, _) = Self.begin(scenario) { queue in
            fixture.makeManager(
                delegate: trace, queue: queue,
                options: identifier.map { [CBCentralManagerOptionRestoreIdentifierKey: $0] })
        }
        super.init(fixture, scenario: scenario, differences: differences, trace: trace)
    }

    /// Another manager on the same radio.
    func makeOther(restoring identifier: String? = nil) -> ContractContext {
        ContractContext(fixture, scenario: scenario, differences: [:], restoring: identifier)
    }

    /// Scans until the peer is seen with its name, then stops.
    func find(_ peer: ContractPeer = .contract, services: [String]? = nil) async throws -> CBPeripheral {
        try await powerOn()
        let name = peer == .contract ? "Contract" : "Second"
        manager.scanForPeripherals(withServices: services?.map(CBUUID.init(contract:)))
        try await wait("a sighting of \(name)") { [trace] in trace.sightings.contains { $0.fields["name"] == name } }
        manager.stopScan()
        guard let identifier = trace.sightings.last(where: { $0.fields["name"] == name })?.identifier,
            let peripheral = manager.retrievePeripherals(withIdentifiers: [identifier]).first
        else { throw ContractTimeout() }
        peripheral.delegate = trace
        keptPeripherals.append(peripheral)
        return peripheral
    }

    /// Finds and connects.
    func connect() async throws -> CBPeripheral {
        let peripheral = try await find()
        manager.connect(peripheral)
        try await expect("didConnect connected")
        return peripheral
    }

    /// Connects, and discovers one service with all its characteristics.
    func connect(discovering service: String) async throws -> (CBPeripheral, CBService) {
        let peripheral = try await connect()
        return (peripheral, try await discover(service, of: peripheral))
    }

    func discover(_ service: String, of peripheral: CBPeripheral) async throws -> CBService {
        peripheral.discoverServices([CBUUID(contract: service)])
        try await skip("didDiscoverServices")
        guard let found = peripheral.services?.first(where: { $0.uuid == CBUUID(contract: service) }) else {
            throw ContractTimeout()
        }
        peripheral.discoverCharacteristics(nil, for: found)
        try await skip("didDiscoverCharacteristics")
        return found
    }

    /// Lets everything that was sent before arrive: a read goes through the same line.
    func fence(_ peripheral: CBPeripheral, _ characteristic: CBCharacteristic) async throws {
        peripheral.readValue(for: characteristic)
        try await skip("didUpdateValue \(characteristic.uuid.short)")
    }
}

extension CBUUID {
    convenience init(contract uuid: String) { self.init(string: ContractPeer.full(uuid)) }
}

extension CBService {
    /// A characteristic by the suite's short UUID; the n-th of several.
    func characteristic(_ uuid: String, _ index: Int = 0) throws -> CBCharacteristic {
        let all = (characteristics ?? []).filter { $0.uuid == CBUUID(contract: uuid) }
        return try #require(all.indices.contains(index) ? all[index] : nil, "no characteristic \(uuid) #\(index)")
    }
}
