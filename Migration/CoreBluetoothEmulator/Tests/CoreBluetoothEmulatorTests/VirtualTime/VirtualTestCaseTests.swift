import CoreBluetooth
import CoreBluetoothTesting
import XCTest

@testable import CoreBluetoothEmulator

/// Tests of this module with the base class of the testing library.
final class VirtualTestCaseTests: EmulatorTestCase {
    private var app: Recorder?
    private var manager: EmulatedCBPeripheralManager?
    private var phone: EmulatedCBCentralManager?

    override func tearDown() { (app, manager, phone) = (nil, nil, nil) }

    func testTimeoutsOfHoursCostNothing() throws {
        CoreBluetoothEmulator.Emulator.configure(.slow)
        let app = Recorder()
        self.app = app
        manager = EmulatedCBPeripheralManager(delegate: app, queue: nil)
        phone = EmulatedCBCentralManager(delegate: app, queue: nil)
        expect(.didUpdateState, .didUpdateState)
        phone?.scanForPeripherals(withServices: nil)
        try emulator.advanceSynchronously(by: .seconds(3_600))
        XCTAssertEqual(app.discovered.count, 0)
        manager?.startAdvertising([CBAdvertisementDataLocalNameKey: "late"])
        expect(.didDiscover)
        XCTAssertEqual(app.discovered.first?.peripheral.name, "late")
    }
}
