import CoreBluetooth
import Testing

/// A manager or an agent in a scenario, with the trace of its callbacks.
class ContractParticipant {
    let fixture: any ContractFixture
    let differences: [String: [String]]
    let trace: ContractTrace
    /// The scenario for which this is.
    let scenario: String
    private var compared = 0

    init(_ fixture: any ContractFixture, scenario: String, differences: [String: [String]], trace: ContractTrace) {
        self.fixture = fixture
        self.scenario = scenario
        self.differences = differences
        self.trace = trace
    }

    /// Makes a manager on a queue of its own, and looks at its state before that queue could change it.
    static func begin<Manager: CBManager>(
        _ scenario: String, _ make: (DispatchQueue) -> Manager
    ) -> (manager: Manager, state: CBManagerState, queue: DispatchQueue) {
        let queue = DispatchQueue(label: "contract \(scenario)")
        return queue.sync {
            let manager = make(queue)
            return (manager, manager.state, queue)
        }
    }

    /// Waits for exactly these callbacks, in this order, after those of the last `expect`.
    ///
    /// Where the table of differences has an entry for a line, the fixture's own lines are expected instead.
    func expect(_ lines: String..., sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let expected = lines.flatMap { differences[$0] ?? [$0] }
        let start = compared
        let end = compared + expected.count
        do {
            try await fixture.wait(for: trace) { [trace] in trace.lines.count >= end }
        } catch {
            Issue.record(
                "\(scenario): expected \(expected), got \(Array(trace.lines.dropFirst(start)))",
                sourceLocation: sourceLocation)
            throw error
        }
        compared = end
        #expect(Array(trace.lines[start..<end]) == expected, sourceLocation: sourceLocation)
    }

    /// Waits for a callback before which another one may come, as it does on some radios.
    func expect(
        _ line: String, perhapsAfter other: String, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let index = compared
        try await wait(line, sourceLocation: sourceLocation) { [trace] in trace.lines.dropFirst(index).contains(line) }
        if trace.lines[index] == other { compared += 1 }
        try await expect(line, sourceLocation: sourceLocation)
    }

    /// Waits for something that leaves no line.
    func wait(
        _ what: String, sourceLocation: SourceLocation = #_sourceLocation,
        until condition: @escaping @Sendable () -> Bool
    ) async throws {
        do {
            try await fixture.wait(for: trace, until: condition)
        } catch {
            Issue.record("\(scenario): \(what) did not happen; trace \(trace.lines)", sourceLocation: sourceLocation)
            throw error
        }
    }

    /// Waits for one callback whose values another scenario compares.
    ///
    /// - Parameter isFailure: Whether it has an error, of whatever kind.
    func skip(
        _ prefix: String, isFailure: Bool = false, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let index = compared
        try await wait(prefix, sourceLocation: sourceLocation) { [trace] in trace.lines.count > index }
        #expect(trace.lines[index].hasPrefix(prefix), sourceLocation: sourceLocation)
        #expect(trace.lines[index].contains("!") == isFailure, sourceLocation: sourceLocation)
        compared = index + 1
    }

    /// What came until now is not compared.
    func forgive() { compared = trace.lines.count }

    /// Nothing more was traced than was expected.
    func finish(sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(Array(trace.lines.dropFirst(compared)) == [], sourceLocation: sourceLocation)
    }

    func powerOn() async throws {
        try await wait("poweredOn") { [trace] in trace.states.last == .poweredOn }
    }

    @discardableResult
    func perform(_ action: PeerAction) async throws -> PeerReply {
        try await fixture.perform(action)
    }

    /// An agent that speaks for the scenario's managers, with a trace of its own.
    func makeAgent(_ capability: CBPairingCapability) -> PairingContext {
        PairingContext(fixture, scenario: scenario, differences: differences, capability)
    }
}
