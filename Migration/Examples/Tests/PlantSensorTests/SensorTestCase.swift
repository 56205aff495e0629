import CoreBluetoothMock
import SimulatedSensors
import XCTest

@testable import PlantSensor

/// Tests of the app in real time, in the style of the original's users: a simulation, and expectations.
class SensorTestCase: XCTestCase {
    private(set) var manager: SensorManager!
    private(set) var listener: Listener!

    override func setUp() {
        fernDelegate.reset()
        orchidDelegate.reset()
        CBMCentralManagerMock.simulateInitialState(.poweredOff)
        CBMCentralManagerMock.simulatePeripherals([fern, orchid, thermometer])
        CBMCentralManagerMock.simulateInitialState(.poweredOn)
        listener = Listener()
        manager = SensorManager(
            central: CBCentralManagerFactory.instance(delegate: nil, queue: nil, options: nil, forceMock: true))
        manager.delegate = listener
    }

    override func tearDown() {
        manager = nil
        listener = nil
        CBMCentralManagerMock.tearDownSimulation()
    }

    func waitForPower() {
        guard manager.problem != nil else { return }
        let isOn = expectation(description: "The adapter is on")
        listener.onState = { if $0 == nil { isOn.fulfill() } }
        wait(for: [isOn], timeout: 5)
        listener.onState = nil
    }

    func findFern() throws -> Sensor {
        let isFound = expectation(description: "The fern is found")
        listener.onFind = { _ in isFound.fulfill() }
        manager.startSearch()
        wait(for: [isFound], timeout: 5)
        manager.stopSearch()
        return try XCTUnwrap(manager.sensors.first)
    }

    /// Connects, and waits until the sensor is ready.
    func connect(_ sensor: Sensor) {
        let isReady = expectation(description: "The sensor is ready")
        listener.onReady = { isReady.fulfill() }
        sensor.delegate = listener
        manager.connect(sensor)
        wait(for: [isReady], timeout: 5)
        listener.onReady = nil
    }

    func connectFern() throws -> Sensor {
        let sensor = try findFern()
        connect(sensor)
        return sensor
    }
}

/// A delegate that calls closures.
final class Listener: SensorManagerDelegate, SensorDelegate {
    var onState: ((SensorError?) -> Void)?
    var onFind: ((Sensor) -> Void)?
    var onConnect: (() -> Void)?
    var onConnectionFailure: ((Error?) -> Void)?
    var onDisconnect: ((Error?) -> Void)?
    var onReady: (() -> Void)?
    var onReading: ((Reading) -> Void)?
    var onFailure: ((Error) -> Void)?

    func sensorManagerDidChangeState(_ manager: SensorManager) { onState?(manager.problem) }
    func sensorManager(_ manager: SensorManager, didFind sensor: Sensor) { onFind?(sensor) }
    func sensorManager(_ manager: SensorManager, didConnect sensor: Sensor) { onConnect?() }
    func sensorManager(_ manager: SensorManager, didFailToConnect sensor: Sensor, error: Error?) {
        onConnectionFailure?(error)
    }
    func sensorManager(_ manager: SensorManager, didDisconnect sensor: Sensor, error: Error?) { onDisconnect?(error) }
    func sensorDidBecomeReady(_ sensor: Sensor) { onReady?() }
    func sensor(_ sensor: Sensor, didMeasure reading: Reading) { onReading?(reading) }
    func sensor(_ sensor: Sensor, didFailWith error: Error) { onFailure?(error) }
}
