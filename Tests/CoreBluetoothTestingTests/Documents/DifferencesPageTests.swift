import Foundation
import Testing

/// Checks that the page "Differences from Apple" describes our choice for each uncertain statement about Apple's
/// behavior.
@Suite struct DifferencesPageTests {
    /// The statements that are uncertain as a whole or in part.
    private static let uncertain =
        ["U2", "U3", "U5", "S16", "S32", "S39", "S47", "S50", "S51", "S53", "S57", "S81", "S82", "S94", "S105", "S110"]
        + ["S111", "S112", "S113", "S131", "S134", "S138", "S148", "S155", "S161"]

    /// Returns the second cell of each row, by the statements in its first cell.
    private func rows() throws -> [String: String] {
        let text = try String(contentsOf: try Repository.page("DifferencesFromApple"), encoding: .utf8)
        var rows: [String: String] = [:]
        for match in text.matches(of: /\n\| ((?:[SU][0-9]+(?:, )?)+) \| ([^|]+) \|/) {
            for number in match.1.split(separator: ", ") { rows[String(number)] = String(match.2) }
        }
        return rows
    }

    @Test func eachUncertainStatementHasARow() throws {
        let rows = try rows()
        for number in Self.uncertain { #expect(rows[number]?.isEmpty == false, "\(number)") }
    }

    @Test func eachRowHasATest() throws {
        let suites = try StatementIndex().suites
        for number in try rows().keys { #expect(suites[number]?.isEmpty == false, "\(number)") }
    }

    @Test func eachStatementThatThePageNamesExists() throws {
        let text = try String(contentsOf: try Repository.page("DifferencesFromApple"), encoding: .utf8)
        for match in text.matches(of: /\b[SU][0-9]+\b/) { #expect(Statements.titles[String(match.0)] != nil) }
    }
}
