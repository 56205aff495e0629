import CoreBluetoothMock
import XCTest

@testable import BlinkyClient

/// The app in real time, as users of the original test theirs.
final class BlinkyClientTests: XCTestCase {
    private var scanner: BlinkyScanner!
    private var listener: BoardListener!

    override func setUp() {
        blinkyDelegate.reset()
        blinkyDelegate.refusesConnections = false
        CBMCentralManagerMock.simulateInitialState(.poweredOff)
        CBMCentralManagerMock.simulatePeripherals([blinky, hrm])
        CBMCentralManagerMock.simulateInitialState(.poweredOn)
        scanner = BlinkyScanner(manager: CBCentralManagerFactory.instance(delegate: nil, queue: nil, forceMock: true))
        listener = BoardListener()
    }

    override func tearDown() {
        scanner = nil
        listener = nil
        CBMCentralManagerMock.tearDownSimulation()
        blinky.simulateProximityChange(.immediate)
    }

    /// Waits until the adapter is on, and for the board.
    private func discoverBoard() throws -> BlinkyBoard {
        let isOn = expectation(description: "The adapter is on")
        isOn.assertForOverFulfill = false
        scanner.onState = { if $0 == .poweredOn { isOn.fulfill() } }
        if scanner.status == "on" { isOn.fulfill() }
        wait(for: [isOn], timeout: 5)
        let found = expectation(description: "The board is found")
        scanner.onDiscovery = { _ in found.fulfill() }
        scanner.start()
        wait(for: [found], timeout: 5)
        scanner.stop()
        return try XCTUnwrap(scanner.boards.first)
    }

    private func connectedBoard() throws -> BlinkyBoard {
        let board = try discoverBoard()
        let isReady = expectation(description: "The board is ready")
        listener.onReady = { isReady.fulfill() }
        board.delegate = listener
        board.connect()
        wait(for: [isReady], timeout: 5)
        return board
    }

    func testOnlyBoardsWithTheServiceAreListed() throws {
        let board = try discoverBoard()
        XCTAssertEqual(scanner.boards.count, 1)
        XCTAssertEqual(board.advertisedName, "nRF Blinky")
        XCTAssertEqual(board.peripheral.identifier, blinky.identifier)
        XCTAssertEqual(Double(board.rssi), -40, accuracy: 15)
    }

    func testTheLEDFollowsTheApp() throws {
        let board = try connectedBoard()
        XCTAssertTrue(board.isConnected)
        XCTAssertTrue(blinky.isConnected)
        let isLit = expectation(description: "The LED is on")
        listener.onLed = { if $0 { isLit.fulfill() } }
        board.turnLed(on: true)
        wait(for: [isLit], timeout: 5)
        XCTAssertTrue(blinkyDelegate.ledIsOn)
    }

    func testTheAppHearsOfTheButton() throws {
        _ = try connectedBoard()
        let isPressed = expectation(description: "The button is pressed")
        listener.onButton = { if $0 { isPressed.fulfill() } }
        blinky.simulateValueUpdate(Data([1]), for: .buttonCharacteristic)
        wait(for: [isPressed], timeout: 5)
    }

    func testARefusedConnectionIsReportedWithItsError() throws {
        let board = try discoverBoard()
        blinkyDelegate.refusesConnections = true
        let hasFailed = expectation(description: "The connection has failed")
        listener.onFailure = { error in
            XCTAssertEqual((error as? CBMError)?.code, .connectionFailed)
            hasFailed.fulfill()
        }
        board.delegate = listener
        board.connect()
        wait(for: [hasFailed], timeout: 5)
        XCTAssertFalse(board.isConnected)
    }

    func testAResetEndsTheConnectionByTimeout() throws {
        let board = try connectedBoard()
        let isOver = expectation(description: "The connection is over")
        listener.onDisconnect = { error in
            XCTAssertEqual((error as? CBMError)?.code, .connectionTimeout)
            isOver.fulfill()
        }
        blinky.simulateReset()
        wait(for: [isOver], timeout: 5)
        XCTAssertFalse(board.isConnected)
    }

    func testTheAppDisconnectsWithoutAnError() throws {
        let board = try connectedBoard()
        let isOver = expectation(description: "The connection is over")
        listener.onDisconnect = { error in
            XCTAssertNil(error)
            isOver.fulfill()
        }
        board.disconnect()
        wait(for: [isOver], timeout: 5)
        XCTAssertEqual(board.peripheral.state, .disconnected)
    }

    func testTheAppHearsThatTheAdapterIsOff() throws {
        let board = try connectedBoard()
        let isOff = expectation(description: "The adapter is off")
        listener.onDisconnect = { _ in isOff.fulfill() }
        CBMCentralManagerMock.simulatePowerOff()
        wait(for: [isOff], timeout: 5)
        XCTAssertEqual(scanner.status, "off")
        XCTAssertFalse(board.isConnected)
    }
}

/// A delegate that is not an NSObject.
private final class BoardListener: BlinkyBoardDelegate {
    var onReady: (() -> Void)?
    var onButton: ((Bool) -> Void)?
    var onLed: ((Bool) -> Void)?
    var onDisconnect: ((Error?) -> Void)?
    var onFailure: ((Error?) -> Void)?

    func boardDidBecomeReady(_ board: BlinkyBoard) { onReady?() }
    func board(_ board: BlinkyBoard, buttonIsPressed: Bool) { onButton?(buttonIsPressed) }
    func board(_ board: BlinkyBoard, ledIsOn: Bool) { onLed?(ledIsOn) }
    func board(_ board: BlinkyBoard, didDisconnectWith error: Error?) { onDisconnect?(error) }
    func board(_ board: BlinkyBoard, didFailWith error: Error?) { onFailure?(error) }
}
