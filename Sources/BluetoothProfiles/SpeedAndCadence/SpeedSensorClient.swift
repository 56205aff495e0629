public import AsyncBluetooth
public import CoreBluetooth

/// A sensor on a bicycle.
public typealias CyclingSpeedAndCadenceClient = SpeedSensorClient<CyclingSpeedAndCadenceService>

/// A runner's sensor.
public typealias RunningSpeedAndCadenceClient = SpeedSensorClient<RunningSpeedAndCadenceService>

/// A sensor of speed and cadence.
public struct SpeedSensorClient<Service: SpeedSensorService>: Sendable {
    /// The device.
    public let peripheral: Peripheral

    /// The sensor of a device; nothing is asked yet.
    public init(_ peripheral: Peripheral) { self.peripheral = peripheral }

    /// What is measured, about each second.
    public var measurements: AsyncThrowingMapSequence<ValueSequence<Data>, Service.Measurement> {
        peripheral.values(of: Service.measurement)
    }

    /// Reads what the sensor can do.
    public func feature() async throws -> Service.Feature { try await peripheral.read(Service.feature) }

    /// Reads the sensor's location; nil where the sensor has no such characteristic.
    public func sensorLocation() async throws -> SensorLocation? {
        try await peripheral.readIfPresent(Service.sensorLocation)
    }

    /// Gives the sensor an order, and waits for the indication that answers it.
    public func perform(_ order: SCControlPointRequest) async throws -> SCControlPointResponse {
        let path = Service.controlPoint.id
        let code = order.code
        let answer = try await peripheral.request(order.encoded, write: path, notify: path) { data in
            data.count >= 2 && data.dropFirst().first == code
        }
        return try peripheral.decoded(answer, .request, path)
    }
}
