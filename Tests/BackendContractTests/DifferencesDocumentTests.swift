import Foundation
import Testing

/// The documentation's table of differences is the suite's.
@Suite struct DifferencesDocumentTests {
    private static let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
        "../../Sources/CoreBluetoothPackage/CoreBluetoothPackage.docc/DifferencesBetweenBackends.md")

    private static var table: String {
        let rows = ContractDifference.all.map { difference in
            "| \(difference.scenario) | \(difference.stages.joined(separator: ", ")) | `\(difference.line)` | `\(difference.instead)` "
                + "| \(difference.reason) |\n"
        }
        return "| scenario | on | the suite's line | instead | because |\n|---|---|---|---|---|\n" + rows.joined()
    }

    @Test func thePageHoldsTheTableOfDifferences() throws {
        let text = try String(contentsOf: Self.page, encoding: .utf8)
        let start = try #require(text.range(of: "<!-- differences -->\n"))
        let end = try #require(text.range(of: "<!-- /differences -->"))
        #expect(text[start.upperBound..<end.lowerBound].trimmingCharacters(in: .newlines) + "\n" == Self.table)
    }
}
