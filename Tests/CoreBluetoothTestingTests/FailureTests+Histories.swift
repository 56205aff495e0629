import BluetoothSupport
import CoreBluetoothTesting
import Foundation
import Testing

extension FailureTests {
    /// The test of the example `PetFeeder`, with the app that makes a new meal for each attempt.
    @Test func aMealThatIsGivenTwiceIsReportedWithItsHistory() async throws {
        let test = try #require(Test.current)
        let messages = Lock<[String]>([])
        try await IssueHandlingTrait.compactMapIssues { issue in
            messages.withLock { $0 += issue.comments.map(\.rawValue) }
            return nil
        }
        .provideScope(for: test, testCase: nil) {
            try await EmulatorTrait.emulator(.histories(1000), seed: 1).provideScope(for: test, testCase: nil) {
                let feeder = try Emulator.current.add(EmulatedFeeder.device())
                try await Emulator.current.run { try await FeederApp().giveMeal() }
                #expect(feeder.meals == 1)
            }
        }
        let message = try #require(messages.withLock { $0 }.first { $0.contains("what happened, as a page: ") })
        let lines = message.split(separator: "\n").map(String.init)
        let incident = try #require(lines.first { $0.hasPrefix("  at ") }?.dropFirst(2))
        #expect(incident.contains("Feeder: "))
        let path = try #require(lines.last?.split(separator: "what happened, as a page: ").last.map(String.init))
        let page = try String(contentsOfFile: path, encoding: .utf8)
        #expect(page.contains(#""history":["\#(incident)"]"#))
        try removeReport(path)
    }
}
