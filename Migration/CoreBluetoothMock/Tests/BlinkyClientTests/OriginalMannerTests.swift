import CoreBluetoothMock
import XCTest

/// Tests in the style of the original's users: managers created by their initializers, proxies, and real time.
final class OriginalMannerTests: XCTestCase {
    private var proxy: CBMCentralManagerDelegateProxy!

    override func setUp() {
        CBMCentralManagerMock.simulateInitialState(.poweredOn)
        proxy = CBMCentralManagerDelegateProxy()
    }

    override func tearDown() {
        CBMCentralManagerMock.tearDownSimulation()
        proxy = nil
    }

    /// Returns a manager that scans as soon as it can.
    private func scanningManager(_ options: [String: Any]? = nil) -> CBMCentralManager {
        proxy.didUpdateState = { manager in
            if manager.state == .poweredOn { manager.scanForPeripherals(withServices: nil, options: options) }
        }
        let manager = CBMCentralManagerMock()
        manager.delegate = proxy
        return manager
    }

    func testEachSetOfAPeripheralIsHeard() {
        let spec = CBMPeripheralSpec.simulatePeripheral(proximity: .near)
            .advertising(advertisementData: [CBMAdvertisementDataLocalNameKey: "first"], withInterval: 0.1)
            .advertising(
                advertisementData: [CBMAdvertisementDataLocalNameKey: "second"], withInterval: 0.1, delay: 0.3
            )
            .advertising(
                advertisementData: [CBMAdvertisementDataLocalNameKey: "once"], withInterval: 0, delay: 0.2
            )
            .build()
        CBMCentralManagerMock.simulatePeripherals([spec])
        let isHeard = ["first", "second", "once"].map { expectation(description: $0) }
        isHeard[0].assertForOverFulfill = false
        isHeard[1].assertForOverFulfill = false
        proxy.didDiscoverPeripheral = { _, peripheral, data, rssi in
            XCTAssertEqual(peripheral.identifier, spec.identifier)
            XCTAssertEqual(rssi.doubleValue, -70, accuracy: 15)
            let name = data[CBMAdvertisementDataLocalNameKey] as? String
            isHeard.first { $0.expectationDescription == name }?.fulfill()
        }
        let manager = scanningManager([CBMCentralManagerScanOptionAllowDuplicatesKey: true])
        wait(for: isHeard, timeout: 5)
        manager.stopScan()
    }

    func testAPeripheralWithANewAddressIsRetrievedOnceItWasCached() {
        CBMCentralManagerMock.simulatePeripherals([blinky])
        let manager = scanningManager()
        let isFound = expectation(description: "The board is found")
        proxy.didDiscoverPeripheral = { _, _, _, _ in isFound.fulfill() }
        wait(for: [isFound], timeout: 5)
        manager.stopScan()
        let old = blinky.identifier
        XCTAssertEqual(manager.retrievePeripherals(withIdentifiers: [old]).count, 1)
        blinky.simulateMacChange()
        XCTAssertNotEqual(blinky.identifier, old)
        XCTAssertTrue(manager.retrievePeripherals(withIdentifiers: [old, blinky.identifier]).isEmpty)
        blinky.simulateCaching()
        XCTAssertEqual(
            manager.retrievePeripherals(withIdentifiers: [blinky.identifier]).map(\.identifier), [blinky.identifier])
    }

    func testAPeripheralThatNobodyKeepsIsConnectedAndDiscovered() {
        CBMCentralManagerMock.simulatePeripherals([blinky])
        let (isConnected, isDiscovered) = (
            expectation(description: "The board is connected"), expectation(description: "Its services are there")
        )
        let peripheralProxy = CBMPeripheralDelegateProxy()
        peripheralProxy.didDiscoverServices = { peripheral, error in
            XCTAssertNil(error)
            XCTAssertEqual(peripheral.services?.map(\.uuid), [.nordicBlinkyService])
            isDiscovered.fulfill()
        }
        proxy.didDiscoverPeripheral = { manager, peripheral, _, _ in
            peripheral.delegate = peripheralProxy
            manager.connect(peripheral, options: nil)
        }
        proxy.didConnect = { manager, peripheral in
            manager.stopScan()
            isConnected.fulfill()
            peripheral.discoverServices(nil)
        }
        let manager = scanningManager()
        wait(for: [isConnected, isDiscovered], timeout: 5)
        XCTAssertFalse(manager.isScanning)
        withExtendedLifetime(peripheralProxy) {}
    }

    func testTheRadioGoesOnWhileTheMainThreadIsBlocked() {
        CBMCentralManagerMock.simulatePeripherals([blinky])
        let isFound = DispatchSemaphore(value: 0)
        proxy.didDiscoverPeripheral = { _, _, _, _ in isFound.signal() }
        proxy.didUpdateState = { manager in
            if manager.state == .poweredOn { manager.scanForPeripherals(withServices: nil) }
        }
        let manager = CBMCentralManagerMock(delegate: proxy, queue: DispatchQueue(label: "queue of the app"))
        XCTAssertEqual(isFound.wait(timeout: .now() + 5), .success)
        manager.stopScan()
    }
}
