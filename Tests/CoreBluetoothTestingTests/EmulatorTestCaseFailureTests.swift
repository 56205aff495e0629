import BluetoothSupport
import CoreBluetooth
import CoreBluetoothTesting
import Foundation
import Testing
import XCTest

/// The failures of XCTest tests, observed from outside.
@Suite(.serialized) struct EmulatorTestCaseFailureTests {
    /// Returns the messages of the failures of a test with a body.
    private func failures(_ body: @escaping (EmulatorTestCase) -> Void) -> [String] {
        let listener = FailureListener()
        XCTestObservationCenter.shared.addTestObserver(listener)
        defer { XCTestObservationCenter.shared.removeTestObserver(listener) }
        let test = EmulatorTestCase(name: "sample") { test in
            if let test = test as? EmulatorTestCase { body(test) }
        }
        test.run()
        return listener.messages
    }

    @Test func aTestThatExpectsWhatComesPasses() {
        let listener = StateListener()
        let messages = failures { test in
            let manager = CBCentralManager(delegate: listener, queue: DispatchQueue(label: "sample"))
            test.expect(.didUpdateState)
            XCTAssertEqual(manager.state, .poweredOn)
        }
        #expect(messages.isEmpty)
    }

    @Test func anExpectationThatIsNotMetFailsWithSeedAndTrace() {
        let listener = StateListener()
        let messages = failures { test in
            let manager = CBCentralManager(delegate: listener, queue: DispatchQueue(label: "sample"))
            test.expect(.didConnect, within: .seconds(1))
            XCTAssertFalse(manager.isScanning)
        }
        #expect(messages.count == 1)
        #expect(messages.first?.contains("expected: didConnect; came: didUpdateState.") == true)
        #expect(messages.first?.contains("> default central 1: stateChanged state=poweredOn") == true)
    }

    @Test func aCallbackThatMustNotComeFailsTheTest() {
        let listener = StateListener()
        let messages = failures { test in
            let manager = CBCentralManager(delegate: listener, queue: DispatchQueue(label: "sample"))
            test.expectNone(of: .didConnect, for: .seconds(1))
            test.expectNone(of: .didUpdateState, for: .seconds(1))
            XCTAssertFalse(manager.isScanning)
        }
        #expect(messages.count == 1)
        #expect(messages.first?.hasPrefix("failed - not expected, but came: didUpdateState") == true)
    }

    #if os(Linux)
    @Test func aDelayedBlockRunsInVirtualTimeAndOneThatStillWaitsIsNoLeak() {
        let listener = StateListener()
        let time = Shared<Duration?>(nil)
        let messages = failures { test in
            let manager = Unchecked(CBCentralManager(delegate: listener, queue: DispatchQueue(label: "sample")))
            let emulator = test.emulator
            test.expect(.didUpdateState)
            let begin = emulator.now
            DispatchQueue.main.asyncAfter(deadline: .now() + 3600) { time.withLock { $0 = emulator.now } }
            test.expectNone(of: .didConnect, for: .seconds(3600))
            XCTAssertEqual(time.withLock { $0 }, begin + .seconds(3600))
            DispatchQueue.main.asyncAfter(deadline: .now() + 60) { manager.value.stopScan() }
        }
        #expect(messages == [])
    }
    #endif

    @Test func whatATestLeavesBehindFailsIt() {
        let holder = AppHolder()
        let messages = failures { test in
            holder.server = ServerApp()
            test.expect(.didUpdateState)
        }
        #expect(messages.contains { $0.contains("leaked: <CBPeripheralManager") })
        #expect(messages.contains { $0.contains("unanswered: add(_:) of service FFE0") })
        holder.server = nil
    }
}

private final class AppHolder {
    var server: ServerApp?
}

private final class FailureListener: NSObject, XCTestObservation {
    private(set) var messages: [String] = []

    func testCase(
        _ testCase: XCTestCase, didFailWithDescription description: String, inFile filePath: String?,
        atLine lineNumber: Int
    ) {
        messages.append(description)
    }
}

/// A delegate that only receives states.
private final class StateListener: NSObject, CBCentralManagerDelegate {
    func centralManagerDidUpdateState(_ central: CBCentralManager) {}
}
