import Testing

/// A central across the air, as a scenario uses it: it is told what to do, and its lines are compared.
final class CentralAcross {
    private let fixture: any ContractFixture
    private let central: ContractCentral
    private let scenario: String
    private let differences: [String: [String]]
    private var compared = 0

    init(_ fixture: any ContractFixture, _ central: ContractCentral, scenario: String, differences: [String: [String]])
    {
        self.fixture = fixture
        self.central = central
        self.scenario = scenario
        self.differences = differences
    }

    @discardableResult
    func perform(_ action: CentralAction) async throws -> PeerReply {
        try await fixture.perform(action, by: central)
    }

    /// Waits for exactly these lines, in this order, after those of the last `expect`.
    ///
    /// Where the table of differences has an entry for a line, the fixture's own lines are expected instead.
    func expect(_ lines: String..., sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let expected = lines.flatMap { differences[$0] ?? [$0] }
        let end = compared + expected.count
        do {
            let lines = try await fixture.lines(of: central, atLeast: end)
            #expect(Array(lines[compared..<end]) == expected, sourceLocation: sourceLocation)
        } catch {
            let lines = try await fixture.lines(of: central, atLeast: 0).dropFirst(compared)
            Issue.record(
                "\(scenario): central \(central): expected \(expected), got \(Array(lines))",
                sourceLocation: sourceLocation)
            throw error
        }
        compared = end
    }

    /// Waits for so many lines, which are to be equal.
    func expect(_ count: Int, of line: String, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let end = compared + count
        let lines = try await fixture.lines(of: central, atLeast: end)
        #expect(lines[compared..<end].allSatisfy { $0 == line }, sourceLocation: sourceLocation)
        compared = end
    }

    /// It had no more to tell than was expected.
    func finish(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let lines = try await fixture.lines(of: central, atLeast: 0)
        #expect(Array(lines.dropFirst(compared)) == [], "central \(central)", sourceLocation: sourceLocation)
    }
}
