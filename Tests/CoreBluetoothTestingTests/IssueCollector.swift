import CoreBluetoothTesting
import Testing

/// A runner of test bodies within separate traits, which returns their failures.
enum IssueCollector {
    /// Returns the messages of the issues that a body causes.
    static func issues(
        world: WorldDescription = .builtIn, allowing allowed: EmulatorTrait.Leftovers = [],
        _ body: @escaping @Sendable () async throws -> Void
    ) async throws -> [String] {
        try await issues(of: .emulator(.instant, seed: 41, world: world, allowing: allowed), body)
    }

    /// Returns the messages of the issues that a body causes under a trait.
    static func issues(
        of trait: EmulatorTrait, _ body: @escaping @Sendable () async throws -> Void
    ) async throws -> [String] {
        let test = try #require(Test.current)
        let messages = Messages()
        try await IssueHandlingTrait.compactMapIssues { issue in
            messages.append(issue.comments.map(\.rawValue).joined(separator: "\n"))
            return nil
        }
        .provideScope(for: test, testCase: nil) {
            try await trait.provideScope(for: test, testCase: nil, performing: body)
        }
        return messages.all
    }
}

private final class Messages: @unchecked Sendable {
    // Invariant: issues of one test body are recorded one after the other.
    private(set) var all: [String] = []
    func append(_ message: String) { all.append(message) }
}
