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

    // MARK: Descriptors

    /// Reads how a value is measured; nil where the device has no such descriptor.
    public func measurement<Value>(of characteristic: GATTCharacteristic<Value>) async throws -> ESMeasurement? {
        try await descriptors(ESMeasurement.self, "290C", of: characteristic).first
    }

    /// Reads the range of a characteristic's values; nil where the device has no such descriptor.
    public func validRange<Value>(of characteristic: GATTCharacteristic<Value>) async throws -> ValidRange<Value>? {
        try await descriptors(ValidRange<Value>.self, "2906", of: characteristic).first
    }

    /// Reads when a value is notified: up to three conditions.
    public func triggers<Value>(
        of characteristic: GATTCharacteristic<Value>
    ) async throws -> [ESTriggerSetting<Value>] {
        try await descriptors(ESTriggerSetting<Value>.self, "290D", of: characteristic)
    }

    /// Sets when a value is notified.
    ///
    /// - Parameters:
    ///   - trigger: The condition.
    ///   - number: Which of the conditions that the device has, from 1.
    ///   - characteristic: Of which value.
    public func setTrigger<Value>(
        _ trigger: ESTriggerSetting<Value>, number: Int = 1, of characteristic: GATTCharacteristic<Value>
    ) async throws {
        let path = DescriptorID(CBUUID(string: "290D"), number: number, of: characteristic.id)
        try await peripheral.write(trigger.encoded, toDescriptor: path)
    }

    /// Reads how the conditions are combined; nil where the device has no such descriptor.
    public func configuration<Value>(of characteristic: GATTCharacteristic<Value>) async throws -> ESConfiguration? {
        try await descriptors(ESConfiguration.self, "290B", of: characteristic).first
    }

    /// Sets how the conditions go together.
    public func setConfiguration<Value>(
        _ configuration: ESConfiguration, of characteristic: GATTCharacteristic<Value>
    ) async throws {
        let path = DescriptorID(CBUUID(string: "290B"), of: characteristic.id)
        try await peripheral.write(configuration.encoded, toDescriptor: path)
    }

    /// Reads all descriptors of a UUID.
    private func descriptors<Descriptor: GATTValue, Value>(
        _ type: Descriptor.Type, _ uuid: String, of characteristic: GATTCharacteristic<Value>
    ) async throws -> [Descriptor] {
        let uuid = CBUUID(string: uuid)
        var values: [Descriptor] = []
        for path in try await peripheral.descriptors(of: characteristic.id) where path.uuid == uuid {
            values.append(try await peripheral.read(type, descriptor: path))
        }
        return values
    }
}
