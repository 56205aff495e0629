import CoreBluetoothMock
import SimulatedSensors
import XCTest

@testable import PlantSensor

final class ConnectionTests: SensorTestCase {
    /// Waits for the end of a connection, after an action that ends it.
    private func waitForDisconnection(
        error expected: CBMError.Code?, after action: () -> Void, file: StaticString = #filePath, line: UInt = #line
    ) {
        let isOver = expectation(description: "The connection is over")
        listener.onDisconnect = { error in
            XCTAssertEqual((error as? CBMError)?.code, expected, file: file, line: line)
            isOver.fulfill()
        }
        action()
        wait(for: [isOver], timeout: 5)
        listener.onDisconnect = nil
    }

    private func waitUntilReadyAgain() {
        let isReady = expectation(description: "The sensor is ready again")
        listener.onReady = { isReady.fulfill() }
        wait(for: [isReady], timeout: 5)
    }

    func testARefusedConnectionIsReportedWithItsError() throws {
        let sensor = try findFern()
        fernDelegate.refusal = CBMError(.connectionLimitReached)
        let hasFailed = expectation(description: "The connection has failed")
        listener.onConnectionFailure = { error in
            XCTAssertEqual((error as? CBMError)?.code, .connectionLimitReached)
            hasFailed.fulfill()
        }
        manager.connect(sensor)
        wait(for: [hasFailed], timeout: 5)
        XCTAssertFalse(sensor.isConnected)
    }

    func testAfterAResetOfTheSensorTheAppConnectsAgain() throws {
        let sensor = try connectFern()
        fernDelegate.battery = 3
        waitForDisconnection(error: .connectionTimeout) { fern.simulateReset() }
        waitUntilReadyAgain()
        XCTAssertTrue(sensor.isConnected)
        XCTAssertEqual(fernDelegate.battery, 87)
    }

    func testAfterADisconnectionByTheSensorTheAppConnectsAgain() throws {
        let sensor = try connectFern()
        waitForDisconnection(error: .peripheralDisconnected) { fern.simulateDisconnection() }
        waitUntilReadyAgain()
        XCTAssertTrue(sensor.isConnected)
    }

    func testADisconnectionByTheAppHasNoErrorAndIsFinal() throws {
        let sensor = try connectFern()
        waitForDisconnection(error: nil) { manager.disconnect(sensor) }
        XCTAssertFalse(sensor.isReady)
        let isConnectedAgain = expectation(description: "The app connects again")
        isConnectedAgain.isInverted = true
        listener.onConnect = { isConnectedAgain.fulfill() }
        wait(for: [isConnectedAgain], timeout: 0.3)
    }

    func testTheAppConnectsAgainWhenTheAdapterIsBackOn() throws {
        let sensor = try connectFern()
        let isOff = expectation(description: "The adapter is off")
        listener.onState = { if $0 == .adapterIsOff { isOff.fulfill() } }
        CBMCentralManagerMock.simulatePowerOff()
        wait(for: [isOff], timeout: 5)
        XCTAssertFalse(sensor.isConnected)
        XCTAssertFalse(sensor.isReady)
        CBMCentralManagerMock.simulatePowerOn()
        waitUntilReadyAgain()
        XCTAssertTrue(sensor.isConnected)
    }
}
