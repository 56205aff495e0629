public import AsyncBluetooth
public import CoreBluetooth

/// A thermometer.
public struct HealthThermometerClient: Sendable {
    /// The device.
    public let peripheral: Peripheral

    /// The thermometer of a device; nothing is asked yet.
    public init(_ peripheral: Peripheral) { self.peripheral = peripheral }

    /// The temperatures that it indicates.
    public var measurements: AsyncThrowingMapSequence<ValueSequence<Data>, TemperatureMeasurement> {
        peripheral.values(of: HealthThermometerService.measurement)
    }

    /// The temperatures while it is measuring.
    public var intermediateTemperatures: AsyncThrowingMapSequence<ValueSequence<Data>, TemperatureMeasurement> {
        peripheral.values(of: HealthThermometerService.intermediate)
    }

    /// Reads where it measures; nil where it does not say, or says it with each measurement.
    public func type() async throws -> TemperatureType? {
        try await peripheral.readIfPresent(HealthThermometerService.type)
    }

    /// Reads the time between measurements; nil where the thermometer has no such characteristic.
    public func interval() async throws -> MeasurementInterval? {
        try await peripheral.readIfPresent(HealthThermometerService.interval)
    }

    /// Sets the time between measurements.
    ///
    /// - Throws: ATT error 0x80, "Out of Range", outside of what the thermometer takes.
    public func setInterval(_ interval: MeasurementInterval) async throws {
        try await peripheral.write(interval, to: HealthThermometerService.interval)
    }
}
