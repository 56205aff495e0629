import BluetoothSupport
import CoreBluetoothTesting
import Foundation
import Testing

/// The search for a planted bug: an app that repeats a write whose answer was lost.
@Suite struct HistoriesTests {
    /// Returns the messages of the issues of a test that runs under histories.
    private func issues(
        _ histories: RadioHistories, seed: UInt64, _ body: @escaping @Sendable () async throws -> Void
    ) async throws -> [String] {
        let test = try #require(Test.current)
        let messages = Lock<[String]>([])
        try await IssueHandlingTrait.compactMapIssues { issue in
            messages.withLock { $0.append(([issue.description] + issue.comments.map(\.rawValue)).joined(separator: "\n")) }
            return nil
        }
        .provideScope(for: test, testCase: nil) {
            do {
                try await EmulatorTrait.emulator(histories, seed: seed)
                    .provideScope(for: test, testCase: nil, performing: body)
            } catch {
                Issue.record(error)
            }
        }
        return messages.withLock { $0 }
    }

    @Test func aRepeatedWriteIsFoundAndSimplified() async throws {
        let messages = try await issues(.histories(1000), seed: 1) {
            let stored = try await RecordUploader(isCareful: false).storedRecords()
            #expect(stored == [1, 2, 3])
        }
        let message = try #require(messages.first)
        #expect(message.contains("history "))
        #expect(message.contains("COREBLUETOOTH_HISTORY="))
        print(message)
    }

    @Test func theMendedAppPasses() async throws {
        let messages = try await issues(.histories(300), seed: 1) {
            let stored = try await RecordUploader(isCareful: true).storedRecords()
            #expect(stored == [1, 2, 3])
        }
        #expect(messages == [])
    }
}
