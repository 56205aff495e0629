import Foundation
import Testing

/// A central across the air, as a scenario uses it: it performs actions, and its reports are compared.
///
/// A real central reports in lines, so the lines of the expected events are compared.
final class CentralAcross {
    private let run: ScenarioRun
    private let central: ContractCentral
    private var compared = 0

    init(_ central: ContractCentral, in run: ScenarioRun) {
        self.central = central
        self.run = run
    }

    @discardableResult
    func perform(_ action: CentralAction) async throws -> PeerReply {
        try await run.fixture.perform(action, by: central)
    }

    /// Connects to the advertiser of a service.
    func connect(to service: ContractAttribute = .served, at location: SourceLocation = #_sourceLocation) async throws {
        try await perform(.connect(service: service))
        try await expect(.connected, at: location)
    }

    /// Ends the link.
    func disconnect(at location: SourceLocation = #_sourceLocation) async throws {
        try await perform(.disconnect)
        try await expect(.disconnected("local"), at: location)
    }

    /// Reads a text.
    func read(
        _ attribute: ContractAttribute, expecting text: String, at location: SourceLocation = #_sourceLocation
    ) async throws {
        try await perform(.read(attribute))
        try await expect(.read(attribute, Data(text.utf8)), at: location)
    }

    /// Discovers all attributes again, and expects these services.
    func discover(_ services: ContractAttribute..., at location: SourceLocation = #_sourceLocation) async throws {
        try await perform(.discover)
        try await expect(.services(services), at: location)
    }

    /// Listens, and expects exactly these advertisers.
    ///
    /// - Parameter milliseconds: Long enough for an advertisement and its scan response, since an adapter may take two
    ///   seconds for an interval. Adapters that alternate between two advertisements need twice the time.
    func expectAdvertisers(
        _ advertisers: HeardAdvertiser..., within milliseconds: Int = 3000,
        at location: SourceLocation = #_sourceLocation
    ) async throws {
        let heard = try await perform(.listen(milliseconds: milliseconds)).lines
        #expect(heard == advertisers.map(\.description), sourceLocation: location)
    }

    /// Waits for exactly these events, in this order, after those of the last `expect`.
    ///
    /// If the table of differences lists an event, the fixture's own events are expected instead.
    func expect(_ events: ContractEvent..., at location: SourceLocation = #_sourceLocation) async throws {
        let expected = run.expected(events).map(\.description)
        let end = compared + expected.count
        do {
            let lines = try await run.fixture.lines(of: central, atLeast: end)
            #expect(Array(lines[compared..<end]) == expected, sourceLocation: location)
        } catch {
            let lines = try await run.fixture.lines(of: central, atLeast: 0).dropFirst(compared)
            Issue.record(
                "\(run.name): central \(central): expected \(expected), got \(Array(lines))",
                sourceLocation: location)
            throw error
        }
        compared = end
    }

    /// Waits for `count` equal events.
    func expect(_ count: Int, of event: ContractEvent, at location: SourceLocation = #_sourceLocation) async throws {
        let end = compared + count
        let lines = try await run.fixture.lines(of: central, atLeast: end)
        #expect(lines[compared..<end].allSatisfy { $0 == event.description }, sourceLocation: location)
        compared = end
    }

    /// Waits for the end of the link, and accepts all events so far.
    func skipToDisconnection() async throws {
        var count = compared + 1
        while true {
            let lines = try await run.fixture.lines(of: central, atLeast: count)
            compared = lines.count
            if lines.last?.hasPrefix("disconnected") == true { return }
            count = compared + 1
        }
    }

    /// Checks that it reported only expected events.
    func finish(at location: SourceLocation = #_sourceLocation) async throws {
        let lines = try await run.fixture.lines(of: central, atLeast: 0)
        #expect(Array(lines.dropFirst(compared)) == [], "central \(central)", sourceLocation: location)
    }
}
