import Foundation
import Testing

/// Checks that the table that compares this package with others names a suite for each claim for this package.
@Suite struct ComparisonTableTests {
    private struct Row {
        let feature: String
        let here: String
        let suite: String
    }

    private static func rows() throws -> [Row] {
        try Repository.text("Documentation/Comparison.md").split(separator: "\n").compactMap { line in
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard line.hasPrefix("| "), cells.count == 6, cells[1] != "here" else { return nil }
            return Row(feature: cells[0], here: cells[1], suite: cells[5])
        }
    }

    /// Returns the tests of the suites of all targets, by the name in `@Suite` or of the class of XCTest.
    private static func suites() throws -> [String: Int] {
        var suites: [String: Int] = [:]
        for file in try ["Tests", "Migration"].flatMap(Repository.swiftFiles(in:)) {
            let text = try String(contentsOf: file, encoding: .utf8)
            for match in text.matches(of: /@Suite[^\n]*?\s(?:final )?(?:struct|class) (\w+)/) {
                suites[String(match.1)] = text.matches(of: /@Test/).count
            }
            for match in text.matches(of: /class (\w+): \w*TestCase/) {
                suites[String(match.1)] = text.matches(of: /func test[A-Z]/).count
            }
        }
        return suites
    }

    @Test func eachRowNamesASuiteThatHasTests() throws {
        let suites = try Self.suites()
        let rows = try Self.rows()
        #expect(rows.count >= 15)
        for row in rows where row.here != "no" {
            let names = row.suite.matches(of: /`(\w+Tests)`/).map { String($0.1) }
            #expect(!names.isEmpty, "\(row.feature)")
            for name in names { #expect((suites[name] ?? 0) > 0, "\(row.feature): \(name)") }
        }
    }
}
