import CoreBluetoothMock
import XCTest

/// The process's world: its beginning, its end, and its time.
final class WorldTests: XCTestCase {
    override func tearDown() {
        CBMCentralManagerMock.tearDownSimulation()
        CBMCentralManagerMock.simulateTime(.real)
    }

    private func wait(for state: CBMManagerState, of manager: CBMCentralManager) {
        let proxy = CBMCentralManagerDelegateProxy()
        let isThere = expectation(description: "The state is \(state)")
        isThere.assertForOverFulfill = false
        proxy.didUpdateState = { if $0.state == state { isThere.fulfill() } }
        manager.delegate = proxy
        if manager.state == state { isThere.fulfill() }
        wait(for: [isThere], timeout: 5)
    }

    func testTheAdapterIsOffAtFirst() {
        wait(for: .poweredOff, of: CBMCentralManagerMock())
    }

    func testTheFactoryMakesMocksOnceTheProcessHasSimulated() {
        CBMCentralManagerMock.simulatePowerOn()
        XCTAssertTrue(CBMCentralManagerFactory.instance() is CBMCentralManagerMock)
        XCTAssertTrue(CBMPeripheralManagerFactory.instance() is CBMPeripheralManagerMock)
    }

    func testATearDownEndsTheManagersAndBeginsANewWorld() {
        CBMCentralManagerMock.simulatePowerOn()
        let manager = CBMCentralManagerMock()
        wait(for: .poweredOn, of: manager)
        let old = CBMCentralManagerMock.emulator
        CBMCentralManagerMock.tearDownSimulation()
        wait(for: .unknown, of: manager)
        XCTAssertFalse(CBMCentralManagerMock.emulator === old)
        CBMCentralManagerMock.simulatePowerOn()
        XCTAssertEqual(manager.state, .unknown)
    }

    func testScaledTimeGoesFaster() throws {
        CBMCentralManagerMock.tearDownSimulation()
        CBMCentralManagerMock.simulateTime(.scaled(by: 100))
        let spec = CBMPeripheralSpec.simulatePeripheral()
            .advertising(advertisementData: [CBMAdvertisementDataLocalNameKey: "Late"], delay: 60).build()
        CBMCentralManagerMock.simulatePeripherals([spec])
        CBMCentralManagerMock.simulatePowerOn()
        let manager = CBMCentralManagerMock()
        wait(for: .poweredOn, of: manager)
        let proxy = CBMCentralManagerDelegateProxy()
        let isFound = expectation(description: "The peripheral that begins after a minute is found")
        proxy.didDiscoverPeripheral = { _, peripheral, _, _ in
            XCTAssertEqual(peripheral.identifier, spec.identifier)
            isFound.fulfill()
        }
        manager.delegate = proxy
        manager.scanForPeripherals(withServices: nil)
        wait(for: [isFound], timeout: 20)
        manager.stopScan()
    }

    func testCallsAtOnceAgree() {
        let blinky = Blinky()
        CBMCentralManagerMock.simulatePeripherals([blinky.spec])
        CBMCentralManagerMock.simulatePowerOn()
        blinky.spec.simulateConnection()
        XCTAssertTrue(blinky.spec.isConnected)
        let manager = CBMCentralManagerMock()
        wait(for: .poweredOn, of: manager)
        let connected = manager.retrieveConnectedPeripherals(withServices: [Blinky.serviceUUID])
        XCTAssertEqual(connected.map(\.identifier), [blinky.spec.identifier])
        blinky.spec.simulateDisconnection()
        XCTAssertFalse(blinky.spec.isConnected)
    }
}
