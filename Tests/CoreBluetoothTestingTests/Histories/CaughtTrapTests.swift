import BluetoothSupport
import CoreBluetooth
import CoreBluetoothTesting
import Foundation
import Testing

@testable import CoreBluetoothTesting

/// Traps of the code under test, which end child processes.
@Suite struct CaughtTrapTests {
    /// A test that would end its process; its finding is expected.
    @Test func aTrapIsFoundAndSimplified() async throws {
        let test = try #require(Test.current)
        let messages = Lock<[String]>([])
        try await IssueHandlingTrait.compactMapIssues { issue in
            messages.withLock { $0.append(issue.comments.map(\.rawValue).joined(separator: "\n")) }
            return nil
        }
        .provideScope(for: test, testCase: nil) {
            try await EmulatorTrait.emulator(.histories(200, .flakyHost, rate: 2, catchesTraps: true), seed: 3)
                .provideScope(for: test, testCase: nil) {
                    let states = StateRecorder()
                    let manager = CBCentralManager(delegate: states, queue: nil)
                    try await Emulator.current.advance(by: .seconds(3))
                    withExtendedLifetime(manager) {
                        precondition(!states.all.contains(.unsupported), "the app does not expect this")
                    }
                }
        }
        // In a child, nothing is reported.
        guard HistoryProcess.Child.current == nil else { return }
        let message = try #require(messages.withLock { $0 }.first)
        #expect(messages.withLock { $0.count } == 1)
        #expect(message.contains("the process ended with signal"))
        #expect(message.contains("Precondition failed: the app does not expect this"))
        #expect(message.contains("incidents to 1:\n"))
        #expect(message.contains("the adapter is unplugged"))
    }
}

private final class StateRecorder: NSObject, CBCentralManagerDelegate, @unchecked Sendable {
    // Invariant: used on the main queue, and read when virtual time stands.
    private(set) var all: [CBManagerState] = []

    func centralManagerDidUpdateState(_ central: CBCentralManager) { all.append(central.state) }
}
