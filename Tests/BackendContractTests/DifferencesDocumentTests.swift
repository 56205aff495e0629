import Foundation
import Testing

/// The documentation's table of differences is the suite's.
@Suite struct DifferencesDocumentTests {
    private static let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
        "../../Sources/CoreBluetoothPackage/CoreBluetoothPackage.docc/DifferencesBetweenBackends.md")

    private static var table: String {
        let rows = ContractDifference.all.map { difference in
            let instead = difference.instead.map { "`\($0)`" }.joined(separator: ", ")
            return "| \(difference.scenario) | \(difference.stages.joined(separator: ", ")) | `\(difference.line)` "
                + "| \(instead.isEmpty ? "nothing" : instead) | \(difference.reason) |\n"
        }
        return "| scenario | on | the suite's line | instead | because |\n|---|---|---|---|---|\n" + rows.joined()
    }

    /// `REWRITE_DOCUMENTS=1` writes the table instead.
    @Test func thePageHoldsTheTableOfDifferences() throws {
        var text = try String(contentsOf: Self.page, encoding: .utf8)
        let start = try #require(text.range(of: "<!-- differences -->\n"))
        let end = try #require(text.range(of: "<!-- /differences -->"))
        let isUpToDate = text[start.upperBound..<end.lowerBound] == "\n\(Self.table)\n"
        if ProcessInfo.processInfo.environment["REWRITE_DOCUMENTS"] == "1" {
            text.replaceSubrange(start.upperBound..<end.lowerBound, with: "\n\(Self.table)\n")
            try text.write(to: Self.page, atomically: true, encoding: .utf8)
        } else {
            #expect(isUpToDate, "write it again with REWRITE_DOCUMENTS=1")
        }
    }
}
