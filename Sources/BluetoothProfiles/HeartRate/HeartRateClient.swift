public import AsyncBluetooth
public import CoreBluetooth

/// A heart rate sensor.
public struct HeartRateClient: Sendable {
    /// The device.
    public let peripheral: Peripheral

    /// The sensor of a device; nothing is asked yet.
    public init(_ peripheral: Peripheral) { self.peripheral = peripheral }

    /// What the sensor measures, about each second.
    public var measurements: AsyncThrowingMapSequence<ValueSequence<Data>, HeartRateMeasurement> {
        peripheral.values(of: HeartRateService.measurement)
    }

    /// Reads the sensor's location; nil where the sensor has no such characteristic.
    public func bodySensorLocation() async throws -> BodySensorLocation? {
        try await peripheral.readIfPresent(HeartRateService.bodySensorLocation)
    }

    /// Lets the sensor count the energy expended from 0 again.
    ///
    /// - Throws: ATT error 0x80 of a sensor that does not count it.
    public func resetEnergyExpended() async throws {
        try await peripheral.write(.resetEnergyExpended, to: HeartRateService.controlPoint)
    }
}
