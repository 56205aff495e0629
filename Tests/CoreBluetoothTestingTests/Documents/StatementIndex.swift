import Foundation

/// The suites that prove each statement, from the names of tests and the statements of the contract's scenarios.
struct StatementIndex {
    /// The suites by number; a suite is named after its file.
    private(set) var suites: [String: Set<String>] = [:]

    init() throws {
        for file in try Repository.swiftFiles(in: "Tests") {
            let text = try String(contentsOf: file, encoding: .utf8)
            let suite = file.deletingPathExtension().lastPathComponent
            let isScenarios = file.path.contains("/BackendContractTests/Scenarios/")
            for match in text.matches(of: /func ((?:[SU][0-9]+_)+)[a-z]/) {
                record(match.1.split(separator: "_"), suite)
            }
            guard isScenarios else { continue }
            for match in text.matches(of: /proving: ((?:"[SU][0-9]+"(?:,\s*)?)+)/) {
                record(match.1.matches(of: /[SU][0-9]+/).map(\.0), "contract, \(suite)")
            }
        }
    }

    private mutating func record(_ numbers: [Substring], _ suite: String) {
        for number in numbers { suites[String(number), default: []].insert(suite) }
    }

    /// The page "Statements and their tests".
    var page: String {
        var text = """
            # Statements and their tests

            CoreBluetooth's behavior in numbered statements, with the tests that prove each of them.

            ## Overview

            The name of a test contains the numbers of the statements that it proves, as in `S12_powerOffCallsNoDidDisconnect`. \
            The tables list the suites that contain such tests; "contract" is the suite that runs on every backend, with \
            the topic of its scenarios. A test generates this page from the sources of the tests.

            """
        for section in Statements.sections {
            text += "\n### \(section.title)\n\n| | statement | tests |\n|---|---|---|\n"
            for number in section.numbers {
                let id = "\(section.prefix)\(number)"
                let names = (suites[id] ?? []).sorted().map { name in
                    name.hasPrefix("contract, ") ? name : "`\(name)`"
                }
                text += "| \(id) | \(Statements.titles[id] ?? "") | \(names.joined(separator: " · ")) |\n"
            }
        }
        return text
    }
}
