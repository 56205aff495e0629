import BluetoothSupport
import CoreBluetooth
import CoreBluetoothTesting
import Testing
import XCTest

/// Histories of a part of a test, with `Emulator.histories`.
@Suite struct HistoriesOfABodyTests {
    /// Returns the messages of the issues that reach the test.
    private func issues(_ body: @escaping @Sendable () async throws -> Void) async throws -> [String] {
        let test = try #require(Test.current)
        let messages = Lock<[String]>([])
        try await IssueHandlingTrait.compactMapIssues { issue in
            messages.withLock { $0.append(issue.comments.map(\.rawValue).joined(separator: "\n")) }
            return nil
        }
        .provideScope(for: test, testCase: nil) {
            await Emulator.histories(.histories(300), seed: 1, body)
        }
        return messages.withLock { $0 }
    }

    @Test func anExpectationOfTheBodyIsTheFailureOfAHistory() async throws {
        let messages = try await issues {
            let feeder = try Emulator.current.add(EmulatedFeeder.device())
            try await Emulator.current.run { try await FeederApp().giveMeal() }
            #expect(feeder.meals == 1)
        }
        #expect(messages.count == 1)
        #expect(messages.first?.hasPrefix("HistoriesOfABodyTests.swift:") == true)
        #expect(messages.first?.contains("(feeder.meals → 2) == 1") == true)
        #expect(messages.first?.contains("of the search with seed 1, simplified in ") == true)
    }

    @Test func anAwaitedCallbackOfTheBodyIsTheFailureOfAHistory() async throws {
        let messages = try await issues {
            let manager = CBCentralManager(delegate: nil, queue: nil)
            await Emulator.current.expect(.didConnect, within: .seconds(1))
            #expect(!manager.isScanning)
        }
        #expect(messages.count == 1)
        #expect(messages.first?.contains("expected: didConnect; came: ") == true)
    }
}

/// A search in a test of XCTest, whose own tasks are in a world.
final class HistoriesOfXCTestTests: EmulatorTestCase {
    func testATimeLimitIsReal() async {
        let count = Lock(0)
        await Emulator.histories(.histories(within: .milliseconds(200))) {
            count.withLock { $0 += 1 }
            try await Emulator.current.advance(by: .seconds(10))
        }
        XCTAssertGreaterThan(count.withLock { $0 }, 1)
    }
}
