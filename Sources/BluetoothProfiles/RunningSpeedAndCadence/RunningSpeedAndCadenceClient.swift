public import AsyncBluetooth
public import CoreBluetooth

/// A runner's sensor.
public struct RunningSpeedAndCadenceClient: Sendable {
    /// The device.
    public let peripheral: Peripheral

    /// The sensor of a device; nothing is asked yet.
    public init(_ peripheral: Peripheral) { self.peripheral = peripheral }

    /// Speed and cadence, about each second.
    public var measurements: AsyncThrowingMapSequence<ValueSequence<Data>, RSCMeasurement> {
        peripheral.values(of: RunningSpeedAndCadenceService.measurement)
    }

    /// Reads what the sensor can do.
    public func feature() async throws -> RSCFeature {
        try await peripheral.read(RunningSpeedAndCadenceService.feature)
    }

    /// Reads where the sensor sits; nil where it does not say.
    public func sensorLocation() async throws -> SensorLocation? {
        try await peripheral.readIfPresent(RunningSpeedAndCadenceService.sensorLocation)
    }

    /// Gives the sensor an order, and waits for its response.
    public func perform(_ request: SCControlPointRequest) async throws -> SCControlPointResponse {
        try await peripheral.perform(request, at: RunningSpeedAndCadenceService.controlPoint.id)
    }
}
