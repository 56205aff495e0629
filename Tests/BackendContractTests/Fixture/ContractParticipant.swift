import CoreBluetooth
import Testing

/// A manager or an agent in a scenario, with the trace of its callbacks.
class ContractParticipant {
    let run: ScenarioRun
    let trace: ContractTrace
    private var compared = 0

    init(_ run: ScenarioRun, _ trace: ContractTrace) {
        self.run = run
        self.trace = trace
        run.add(trace)
    }

    /// Creates a manager on a separate queue, and reads its state before that queue can change it.
    static func start<Manager: CBManager>(
        _ scenario: String, _ make: (DispatchQueue) -> Manager
    ) -> (manager: Manager, state: CBManagerState, queue: DispatchQueue) {
        let queue = DispatchQueue(label: "contract \(scenario)")
        return queue.sync {
            let manager = make(queue)
            return (manager, manager.state, queue)
        }
    }

    /// Waits for exactly these events, in this order, after those of the last `expect`.
    ///
    /// If the table of differences lists an event, the fixture's own events are expected instead.
    func expect(_ events: ContractEvent..., at location: SourceLocation = #_sourceLocation) async throws {
        let expected = run.expected(events)
        let start = compared
        let end = compared + expected.count
        do {
            try await run.fixture.wait(for: trace) { [trace] in trace.events.count >= end }
        } catch {
            Issue.record(
                "\(run.name): expected \(expected), got \(Array(trace.events.dropFirst(start)))",
                sourceLocation: location)
            throw error
        }
        compared = end
        #expect(Array(trace.events[start..<end]) == expected, sourceLocation: location)
    }

    /// Waits for an event, which another event may precede, as on some backends.
    func expect(
        _ event: ContractEvent, perhapsAfter other: ContractEvent, at location: SourceLocation = #_sourceLocation
    ) async throws {
        let index = compared
        try await wait("\(event)", at: location) { [trace] in
            trace.events.dropFirst(index).contains(event)
        }
        if trace.events[index] == other { compared += 1 }
        try await expect(event, at: location)
    }

    /// Waits for an event, or on BlueZ for the end of the link: the kernel ends it when the other side refuses the pairing, and the
    /// daemon may report that before the kernel reports the refusal.
    func expectRefusal(
        _ event: ContractEvent, orOnBlueZ end: ContractEvent, at location: SourceLocation = #_sourceLocation
    ) async throws {
        let index = compared
        try await wait("\(event)", at: location) { [trace] in trace.events.count > index }
        let isEnd = run.fixture.name.hasPrefix("bluez") && trace.events[index] == end
        try await expect(isEnd ? end : event, at: location)
    }

    /// Waits for a condition that is not an event.
    func wait(
        _ what: String, at location: SourceLocation = #_sourceLocation,
        until condition: @escaping @Sendable () -> Bool
    ) async throws {
        do {
            try await run.fixture.wait(for: trace, until: condition)
        } catch {
            Issue.record("\(run.name): \(what) did not happen; trace \(trace.events)", sourceLocation: location)
            throw error
        }
    }

    /// Waits for an event of this subject, with any values.
    ///
    /// - Parameter isFailure: Whether it has an error, of any kind.
    func skip(
        _ event: ContractEvent, isFailure: Bool = false, at location: SourceLocation = #_sourceLocation
    ) async throws {
        let index = compared
        try await wait(event.subject, at: location) { [trace] in trace.events.count > index }
        #expect(trace.events[index].subject == event.subject, sourceLocation: location)
        #expect(trace.events[index].isFailure == isFailure, sourceLocation: location)
        compared = index + 1
    }

    /// Accepts all events so far.
    func skipAll() { compared = trace.events.count }

    /// Checks that only expected events occurred.
    func finish(at location: SourceLocation = #_sourceLocation) {
        #expect(Array(trace.events.dropFirst(compared)) == [], sourceLocation: location)
    }

    @discardableResult
    func perform(_ action: PeerAction) async throws -> PeerReply {
        try await run.fixture.perform(action)
    }

    /// Creates an agent that answers for the scenario's managers, with a separate trace.
    func makeAgent(_ capability: CBPairingCapability) -> PairingContext { PairingContext(run, capability) }

    // MARK: Power

    /// Waits until the manager can be used.
    func powerOn(at location: SourceLocation = #_sourceLocation) async throws {
        try await wait("poweredOn", at: location) { [trace] in trace.states.last == .poweredOn }
    }

    /// Switches the adapter off, and waits until the manager knows.
    func switchOff(at location: SourceLocation = #_sourceLocation) async throws {
        try await perform(.adapter(isPowered: false))
        try await wait("poweredOff", at: location) { [trace] in trace.states.last == .poweredOff }
    }

    /// Switches the adapter on, and waits until the manager can be used.
    func switchOn(at location: SourceLocation = #_sourceLocation) async throws {
        try await perform(.adapter(isPowered: true))
        try await powerOn(at: location)
    }
}
