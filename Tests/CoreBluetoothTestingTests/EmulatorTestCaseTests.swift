import CoreBluetooth
import CoreBluetoothTesting
import Testing
import XCTest

final class EmulatorTestCaseTests: EmulatorTestCase {
    private var app: HeartRateApp?

    override var seed: UInt64 { 3 }

    override var world: WorldDescription { .builtIn }

    override func setUp() {
        app = HeartRateApp(queue: nil)
    }

    override func tearDown() {
        app?.stop()
        app = nil
    }

    func testTheMainQueueIsServed() {
        expect(.didUpdateState, .didConnect, .didUpdateValue)
        XCTAssertEqual(app?.beats.count, 1)
        XCTAssertEqual(emulator.seed, 3)
    }

    func testAnAsynchronousTestMayAskTheEmulatorItself() async {
        await emulator.expect(.didConnect, .didUpdateValue)
        await emulator.expectNone(of: .didDisconnectPeripheral, for: .milliseconds(100))
    }

    func testAnAsynchronousTestIsInTheSameWorld() async {
        await Task.yield()
        expect(.didConnect, .didUpdateValue)
        XCTAssertTrue(Emulator.current === emulator)
    }
}
