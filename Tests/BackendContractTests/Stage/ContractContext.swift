import CoreBluetooth
import Testing

/// What a scenario works with: one manager, its trace, and the usual steps.
///
/// A peripheral is used from the scenario's task, as an app may use it from any thread.
final class ContractContext {
    let stage: any ContractStage
    let differences: [String: String]
    let trace: ContractTrace
    let manager: CBCentralManager
    /// The scenario for which this is.
    let scenario: String
    private var compared = 0
    private var keptPeripherals: [CBPeripheral] = []

    init(_ stage: any ContractStage, scenario: String, differences: [String: String]) {
        self.stage = stage
        self.scenario = scenario
        self.differences = differences
        trace = ContractTrace()
        manager = stage.makeManager(delegate: trace, queue: DispatchQueue(label: "contract \(scenario)"))
    }

    // MARK: The trace

    /// Waits for exactly these callbacks, in this order, after those of the last `expect`.
    ///
    /// Where the table of differences has an entry for a line, the stage's own line is expected instead.
    func expect(_ lines: String..., sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let expected = lines.map { differences[$0] ?? $0 }
        let start = compared
        let end = compared + expected.count
        do {
            try await stage.wait(for: trace) { [trace] in trace.lines.count >= end }
        } catch {
            Issue.record(
                "\(scenario): expected \(expected), got \(Array(trace.lines.dropFirst(start)))",
                sourceLocation: sourceLocation)
            throw error
        }
        compared = end
        #expect(Array(trace.lines[start..<end]) == expected, sourceLocation: sourceLocation)
    }

    /// Waits for something that leaves no line.
    func wait(
        _ what: String, sourceLocation: SourceLocation = #_sourceLocation,
        until condition: @escaping @Sendable () -> Bool
    ) async throws {
        do {
            try await stage.wait(for: trace, until: condition)
        } catch {
            Issue.record("\(scenario): \(what) did not happen; trace \(trace.lines)", sourceLocation: sourceLocation)
            throw error
        }
    }

    /// Nothing more was traced than was expected.
    func finish(sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(Array(trace.lines.dropFirst(compared)) == [], sourceLocation: sourceLocation)
    }

    // MARK: Steps

    func powerOn() async throws {
        try await wait("poweredOn") { [trace] in trace.states.last == .poweredOn }
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

    /// Waits for one callback whose values another scenario compares.
    func skip(_ prefix: String, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let index = compared
        try await wait(prefix, sourceLocation: sourceLocation) { [trace] in trace.lines.count > index }
        #expect(trace.lines[index].hasPrefix(prefix), sourceLocation: sourceLocation)
        #expect(!trace.lines[index].contains("!"), sourceLocation: sourceLocation)
        compared = index + 1
    }

    /// Lets everything that was sent before arrive: a read goes through the same line.
    func fence(_ peripheral: CBPeripheral, _ characteristic: CBCharacteristic) async throws {
        peripheral.readValue(for: characteristic)
        try await skip("didUpdateValue \(characteristic.uuid.short)")
    }

    @discardableResult
    func perform(_ verb: PeerVerb) async throws -> PeerReply {
        try await stage.perform(verb)
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
