import CoreBluetoothMock
import XCTest

/// The state of the adapter in the world of the process, in real time.
///
/// The queue of the managers is suspended until a test resumes it.
final class AdapterTests: XCTestCase {
    private let queue = DispatchQueue(label: "managers")
    private var board: CBMPeripheralSpec!

    override func setUp() {
        board = Blinky().spec
        CBMCentralManagerMock.simulatePeripherals([board])
        CBMCentralManagerMock.simulateInitialState(.poweredOn)
    }

    override func tearDown() { CBMCentralManagerMock.tearDownSimulation() }

    func testTheFirstStateIsThatOfTheMoment() {
        var states: [CBMManagerState] = []
        let isTold = expectation(description: "The first state is told")
        isTold.assertForOverFulfill = false
        let isOn = expectation(description: "The adapter is on again")
        let proxy = CBMCentralManagerDelegateProxy()
        proxy.didUpdateState = { manager in
            states.append(manager.state)
            isTold.fulfill()
            if manager.state == .poweredOn { isOn.fulfill() }
        }
        queue.suspend()
        let manager = CBMCentralManagerMock(delegate: proxy, queue: queue)
        XCTAssertEqual(manager.state, .unknown)
        CBMCentralManagerMock.simulatePowerOff()
        queue.resume()
        wait(for: [isTold], timeout: 5)
        XCTAssertEqual(manager.state, .poweredOff)
        CBMCentralManagerMock.simulatePowerOn()
        wait(for: [isOn], timeout: 5)
        XCTAssertEqual(queue.sync { states }, [.poweredOff, .poweredOn])
    }

    func testTheFirstStateOfAPeripheralManagerIsThatOfTheMoment() {
        var states: [CBMManagerState] = []
        let isTold = expectation(description: "The first state is told")
        isTold.assertForOverFulfill = false
        let isOn = expectation(description: "The adapter is on again")
        let proxy = CBMPeripheralManagerDelegateProxy()
        proxy.didUpdateState = { manager in
            states.append(manager.state)
            isTold.fulfill()
            if manager.state == .poweredOn { isOn.fulfill() }
        }
        queue.suspend()
        let manager = CBMPeripheralManagerMock(delegate: proxy, queue: queue)
        CBMCentralManagerMock.simulatePowerOff()
        queue.resume()
        wait(for: [isTold], timeout: 5)
        XCTAssertEqual(manager.state, .poweredOff)
        CBMCentralManagerMock.simulatePowerOn()
        wait(for: [isOn], timeout: 5)
        XCTAssertEqual(queue.sync { states }, [.poweredOff, .poweredOn])
    }

    func testAStateBelowOnIsThereAtOnce() {
        let isOn = expectation(description: "The adapter is on")
        let proxy = CBMCentralManagerDelegateProxy()
        proxy.didUpdateState = { if $0.state == .poweredOn { isOn.fulfill() } }
        let manager = CBMCentralManagerMock(delegate: proxy, queue: queue)
        wait(for: [isOn], timeout: 5)
        proxy.didUpdateState = nil
        for state in [CBMManagerState.poweredOff, .resetting, .unauthorized] {
            queue.suspend()
            CBMCentralManagerMock.simulateInitialState(state)
            XCTAssertEqual(manager.state, state)
            queue.resume()
        }
    }

    func testNothingIsConnectedWhenTheAdapterIsOff() {
        let isAdvertising = expectation(description: "The app advertises")
        let proxy = CBMPeripheralManagerDelegateProxy()
        proxy.didUpdateState = { if $0.state == .poweredOn { $0.startAdvertising(nil) } }
        proxy.didStartAdvertising = { _, _ in isAdvertising.fulfill() }
        let manager = CBMPeripheralManagerMock(delegate: proxy, queue: queue)
        wait(for: [isAdvertising], timeout: 5)
        let phone = CBMCentralSpec()
        phone.simulateConnection()
        board.simulateConnection()
        XCTAssertTrue(phone.isConnected && board.isConnected)
        CBMCentralManagerMock.simulatePowerOff()
        XCTAssertFalse(phone.isConnected || board.isConnected)
        CBMCentralManagerMock.simulatePowerOn()
        phone.simulateConnection()
        XCTAssertTrue(phone.isConnected && board.isConnected)
        withExtendedLifetime(manager) {}
    }
}
