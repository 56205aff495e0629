import CoreBluetoothMock
import SimulatedSensors
import XCTest

@testable import PlantSensor

final class NormalBehaviorTests: SensorTestCase {
    func testOnlySensorsThatAdvertiseABatteryAreFound() throws {
        let sensor = try findFern()
        XCTAssertEqual(manager.sensors.count, 1)
        XCTAssertEqual(sensor.name, "Fern")
        XCTAssertEqual(sensor.identifier, fern.identifier)
        XCTAssertEqual(Double(try XCTUnwrap(sensor.signalStrength)), -40, accuracy: 15)
    }

    func testAConnectedSensorDeliversAllItsValues() throws {
        let sensor = try findFern()
        let areThere = expectation(description: "The values are there")
        areThere.expectedFulfillmentCount = 3
        var readings: [Reading] = []
        listener.onReading = {
            readings.append($0)
            areThere.fulfill()
        }
        connect(sensor)
        wait(for: [areThere], timeout: 5)
        XCTAssertEqual(readings, [.battery(87), .soil(24), .temperature(21.5)])
        XCTAssertTrue(sensor.isReady)
        XCTAssertTrue(fern.isConnected)
    }

    func testTheAppHearsOfANewValue() throws {
        _ = try connectFern()
        let isReported = expectation(description: "The new level of the battery is reported")
        listener.onReading = { if $0 == .battery(5) { isReported.fulfill() } }
        fern.simulateValueUpdate(Data([5]), for: .batteryLevel)
        wait(for: [isReported], timeout: 5)
    }

    func testAMalformedValueIsReported() throws {
        _ = try connectFern()
        let isReported = expectation(description: "The malformed value is reported")
        listener.onFailure = { error in
            XCTAssertEqual(error as? SensorError, .malformedValue(.humidity))
            isReported.fulfill()
        }
        fern.simulateValueUpdate(Data([1, 2, 3]), for: .humidity)
        wait(for: [isReported], timeout: 5)
    }

    func testTheSensorAlerts() throws {
        let sensor = try connectFern()
        try sensor.alert(.high)
        let hasAlerted = XCTNSPredicateExpectation(
            predicate: NSPredicate { _, _ in fernDelegate.alert == AlertLevel.high.rawValue }, object: nil)
        wait(for: [hasAlerted], timeout: 5)
    }

    func testASensorIsRetrievedWithoutASearch() throws {
        waitForPower()
        let sensor = try manager.retrieveSensor(orchid.identifier)
        connect(sensor)
        XCTAssertEqual(sensor.name, "Orchid")
        XCTAssertTrue(orchid.isConnected)
        XCTAssertThrowsError(try sensor.alert(.mild)) { XCTAssertEqual($0 as? SensorError, .noAlert) }
    }

    func testAnUnknownIdentifierIsAnError() {
        waitForPower()
        let identifier = UUID()
        XCTAssertThrowsError(try manager.retrieveSensor(identifier)) {
            XCTAssertEqual($0 as? SensorError, .unknownSensor(identifier))
        }
    }
}
