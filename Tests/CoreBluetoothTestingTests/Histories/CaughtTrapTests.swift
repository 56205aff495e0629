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
        let messages = try await IssueCollector.issues(
            of: .emulator(.histories(200, .flakyHost, rate: 2, catchesTraps: true), seed: 3)
        ) {
            let states = StateRecorder()
            let manager = CBCentralManager(delegate: states, queue: nil)
            try await Emulator.current.advance(by: .seconds(3))
            withExtendedLifetime(manager) {
                precondition(!states.all.contains(.unsupported), "the app does not expect this")
            }
        }
        // In a child, nothing is reported.
        guard HistoryProcess.Child.current == nil else { return }
        let message = try #require(messages.first)
        #expect(messages.count == 1)
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
