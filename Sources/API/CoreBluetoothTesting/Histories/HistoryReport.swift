/// A history that makes a test fail, for the message and the page of the failure.
struct HistoryReport: Sendable {
    /// The incidents in words.
    let steps: [String]
    /// The lines of the message.
    let lines: [String]

    /// Reports the finding of a search.
    ///
    /// - Parameter files: The lines that name the files of the history.
    init(_ finding: HistorySearch.Finding, seed: UInt64, _ files: [String]) {
        steps = finding.simplest.steps.map(\.description)
        let count = finding.original.steps.count
        let simplified =
            finding.simplest == finding.original
            ? "which has \(Self.incidents(count))"
            : "simplified in \(finding.runs) runs from \(Self.incidents(count)) to \(finding.simplest.steps.count)"
        lines =
            ["history \(finding.number) of the search with seed \(seed), \(simplified):"] + steps.map { "  " + $0 }
            + files
    }

    /// Reports the history of a file.
    init(repeating plan: HistoryPlan, from file: String) {
        steps =
            plan.script.map { "at \($0.time.inWords): \($0.words)" }
            + plan.twins.map { "another device is named \($0.name)" }
        lines = ["the history of \(file):"] + steps.map { "  " + $0 }
    }

    /// The message if the test ends its process.
    func ending(_ finding: HistorySearch.Finding) -> String {
        (finding.failures + lines).joined(separator: "\n")
    }

    /// The message if the test passes when the simplest history is repeated.
    func unrepeatable(_ finding: HistorySearch.Finding) -> String {
        let failure = ["its failures were:"] + finding.failures + ["its last events were:"] + finding.trace
        return """
            The test failed under a history, and passed when it was repeated: it depends on something that the emulator \
            does not determine, such as the machine's time, unseeded randomness, or state that runs share.
            \((lines + failure).joined(separator: "\n"))
            """
    }

    private static func incidents(_ count: Int) -> String { count == 1 ? "1 incident" : "\(count) incidents" }
}
