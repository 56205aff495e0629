public import AsyncBluetooth
public import CoreBluetooth

/// A sensor of the environment.
///
/// Which characteristics it has is up to the device: ``EnvironmentalSensingService`` names them.
public struct EnvironmentalSensingClient: Sendable {
    /// The device.
    public let peripheral: Peripheral

    /// The sensor of a device; nothing is asked yet.
    public init(_ peripheral: Peripheral) { self.peripheral = peripheral }

    /// Reads a value; nil where the device does not measure it.
    public func read<Value>(_ characteristic: GATTCharacteristic<Value>) async throws -> Value? {
        try await peripheral.readIfPresent(characteristic)
    }

    /// A value each time that the device notifies it.
    public func values<Value>(
        of characteristic: GATTCharacteristic<Value>
    ) -> AsyncThrowingMapSequence<ValueSequence<Data>, Value> { peripheral.values(of: characteristic) }

    /// Reads the temperature; nil where the device does not measure it.
    public func temperature() async throws -> Temperature? { try await read(EnvironmentalSensingService.temperature) }

    /// Reads the humidity; nil where the device does not measure it.
    public func humidity() async throws -> Humidity? { try await read(EnvironmentalSensingService.humidity) }

    /// Reads the pressure; nil where the device does not measure it.
    public func pressure() async throws -> Pressure? { try await read(EnvironmentalSensingService.pressure) }
}
