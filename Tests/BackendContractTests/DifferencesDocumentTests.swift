import Foundation
import Testing

/// Tests that the tables on the page "Differences between backends" are those of the suite.
@Suite(.serialized) struct DifferencesDocumentTests {
    private static let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
        "../../Sources/API/CoreBluetooth/CoreBluetooth.docc/DifferencesBetweenBackends.md")

    private static var differences: String {
        let rows = ContractDifference.all.map { difference in
            let instead = difference.instead.map { "`\($0)`" }.joined(separator: ", ")
            return "| \(difference.scenario) | \(difference.fixtures.joined(separator: ", ")) | `\(difference.event)` "
                + "| \(instead.isEmpty ? "nothing" : instead) | \(difference.reason) |\n"
        }
        return "| scenario | on | expected line | instead | reason |\n|---|---|---|---|---|\n" + rows.joined()
    }

    private static var never: String {
        let rows = ContractScenario.all.compactMap { scenario in
            scenario.emulatorOnly.map { "| \(scenario.name) | \($0) |\n" }
        }
        return "| scenario | reason |\n|---|---|\n" + rows.joined()
    }

    /// `REWRITE_DOCUMENTS=1` writes the tables instead.
    @Test(arguments: [("differences", differences), ("never", never)])
    func thePageContainsTheTables(mark: String, table: String) throws {
        var text = try String(contentsOf: Self.page, encoding: .utf8)
        let start = try #require(text.range(of: "<!-- \(mark) -->\n"))
        let end = try #require(text.range(of: "<!-- /\(mark) -->"))
        if ProcessInfo.processInfo.environment["REWRITE_DOCUMENTS"] == "1" {
            text.replaceSubrange(start.upperBound..<end.lowerBound, with: "\n\(table)\n")
            try text.write(to: Self.page, atomically: true, encoding: .utf8)
        } else {
            let isUpToDate = text[start.upperBound..<end.lowerBound] == "\n\(table)\n"
            #expect(isUpToDate, "write it again with REWRITE_DOCUMENTS=1")
        }
    }
}
