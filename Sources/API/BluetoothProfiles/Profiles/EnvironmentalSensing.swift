public import AsyncBluetooth
public import CoreBluetooth

/// The service Environmental Sensing (181A): its characteristics.
///
/// Source: Environmental Sensing Service 1.0.
public enum EnvironmentalSensingService {
    /// The service's UUID.
    public static let uuid = CBUUID(string: "181A")
    /// The temperature (2A6E).
    public static let temperature: GATTCharacteristic<Temperature> = measured("2A6E")
    /// The relative humidity (2A6F).
    public static let humidity: GATTCharacteristic<Humidity> = measured("2A6F")
    /// The air pressure (2A6D).
    public static let pressure: GATTCharacteristic<Pressure> = measured("2A6D")
    /// The height above sea level (2A6C).
    public static let elevation: GATTCharacteristic<Elevation> = measured("2A6C")
    /// The speed of the wind (2A70).
    public static let trueWindSpeed: GATTCharacteristic<TrueWindSpeed> = measured("2A70")
    /// The direction from which the wind blows (2A71).
    public static let trueWindDirection: GATTCharacteristic<TrueWindDirection> = measured("2A71")
    /// The speed of the wind relative to a moving sensor (2A72).
    public static let apparentWindSpeed: GATTCharacteristic<ApparentWindSpeed> = measured("2A72")
    /// The direction of the wind relative to a moving sensor (2A73).
    public static let apparentWindDirection: GATTCharacteristic<ApparentWindDirection> = measured("2A73")
    /// The strength of the gusts (2A74).
    public static let gustFactor: GATTCharacteristic<GustFactor> = measured("2A74")
    /// The pollen in the air (2A75).
    public static let pollenConcentration: GATTCharacteristic<PollenConcentration> = measured("2A75")
    /// The sun's ultraviolet light (2A76).
    public static let uvIndex: GATTCharacteristic<UVIndex> = measured("2A76")
    /// The power of light (2A77).
    public static let irradiance: GATTCharacteristic<Irradiance> = measured("2A77")
    /// The rain (2A78).
    public static let rainfall: GATTCharacteristic<Rainfall> = measured("2A78")
    /// The perceived temperature in wind (2A79).
    public static let windChill: GATTCharacteristic<WindChill> = measured("2A79")
    /// The perceived temperature in humid air (2A7A).
    public static let heatIndex: GATTCharacteristic<HeatIndex> = measured("2A7A")
    /// The temperature at which water condenses (2A7B).
    public static let dewPoint: GATTCharacteristic<DewPoint> = measured("2A7B")
    /// The angle between magnetic and true north (2A2C).
    public static let magneticDeclination: GATTCharacteristic<MagneticDeclination> = measured("2A2C")
    /// A magnetic field along two axes (2AA0).
    public static let magneticFluxDensity2D: GATTCharacteristic<MagneticFluxDensity2D> = measured("2AA0")
    /// A magnetic field along three axes (2AA1).
    public static let magneticFluxDensity3D: GATTCharacteristic<MagneticFluxDensity3D> = measured("2AA1")
    /// The change of the pressure (2AA3).
    public static let pressureTrend: GATTCharacteristic<BarometricPressureTrend> = measured("2AA3")

    private static func measured<Value>(_ uuid: String) -> GATTCharacteristic<Value> {
        GATTCharacteristic(CBUUID(string: uuid), in: Self.uuid, [.read, .notify])
    }
}

/// A client of an environmental sensor.
///
/// The device decides which of the characteristics in ``EnvironmentalSensingService`` it offers.
public struct EnvironmentalSensingClient: Sendable {
    /// The device.
    public let peripheral: Peripheral

    /// Creates a client of a device; sends no request.
    public init(_ peripheral: Peripheral) { self.peripheral = peripheral }

    /// Reads a value; nil if the device does not measure it.
    public func read<Value>(_ characteristic: GATTCharacteristic<Value>) async throws -> Value? {
        try await peripheral.readIfPresent(characteristic)
    }

    /// Returns the values that the device notifies.
    public func values<Value>(
        of characteristic: GATTCharacteristic<Value>
    ) -> AsyncThrowingMapSequence<ValueSequence<Data>, Value> { peripheral.values(of: characteristic) }

    /// Reads the temperature; nil if the device does not measure it.
    public func temperature() async throws -> Temperature? { try await read(EnvironmentalSensingService.temperature) }

    /// Reads the humidity; nil if the device does not measure it.
    public func humidity() async throws -> Humidity? { try await read(EnvironmentalSensingService.humidity) }

    /// Reads the pressure; nil if the device does not measure it.
    public func pressure() async throws -> Pressure? { try await read(EnvironmentalSensingService.pressure) }

    // MARK: Descriptors

    /// Reads the method by which a value is measured; nil if the device lacks the descriptor.
    public func measurement<Value>(of characteristic: GATTCharacteristic<Value>) async throws -> ESMeasurement? {
        try await descriptors(ESMeasurement.self, "290C", of: characteristic).first
    }

    /// Reads the range of a characteristic's values; nil if the device lacks the descriptor.
    public func validRange<Value>(of characteristic: GATTCharacteristic<Value>) async throws -> ValidRange<Value>? {
        try await descriptors(ValidRange<Value>.self, "2906", of: characteristic).first
    }

    /// Reads the conditions under which a value is notified, up to three.
    public func triggers<Value>(
        of characteristic: GATTCharacteristic<Value>
    ) async throws -> [ESTriggerSetting<Value>] {
        try await descriptors(ESTriggerSetting<Value>.self, "290D", of: characteristic)
    }

    /// Sets the condition under which a value is notified.
    ///
    /// - Parameters:
    ///   - trigger: The condition.
    ///   - instance: The position of the condition among the device's conditions, from 1.
    ///   - characteristic: The characteristic of the value.
    public func setTrigger<Value>(
        _ trigger: ESTriggerSetting<Value>, instance: Int = 1, of characteristic: GATTCharacteristic<Value>
    ) async throws {
        let path = DescriptorID(CBUUID(string: "290D"), instance: instance, of: characteristic.id)
        try await peripheral.write(trigger.encoded, toDescriptor: path)
    }

    /// Reads the combination of the conditions; nil if the device lacks the descriptor.
    public func configuration<Value>(of characteristic: GATTCharacteristic<Value>) async throws -> ESConfiguration? {
        try await descriptors(ESConfiguration.self, "290B", of: characteristic).first
    }

    /// Sets the combination of the conditions.
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

/// A simulated environmental sensor.
public final class EnvironmentalSensingServer: ProfileServer {
    /// The temperature; a new value is notified.
    public let temperature: ServedValue<Temperature>
    /// The humidity; a new value is notified.
    public let humidity: ServedValue<Humidity>
    /// The pressure; a new value is notified.
    public let pressure: ServedValue<Pressure>
    private let others: [any ServedAttribute]

    /// Creates a sensor.
    ///
    /// - Parameters:
    ///   - temperature: The temperature, 21.5 °C by default.
    ///   - humidity: The humidity, 45 % by default.
    ///   - pressure: The pressure, 1013.25 hPa by default.
    ///   - others: Other measured values, created with the characteristics of ``EnvironmentalSensingService``.
    public init(
        temperature: Temperature = Temperature(uncheckedRawNumber: 2_150),
        humidity: Humidity = Humidity(uncheckedRawNumber: 4_500),
        pressure: Pressure = Pressure(uncheckedRawNumber: 1_013_250), others: [any ServedAttribute] = []
    ) {
        self.temperature = ServedValue(EnvironmentalSensingService.temperature, temperature)
        self.humidity = ServedValue(EnvironmentalSensingService.humidity, humidity)
        self.pressure = ServedValue(EnvironmentalSensingService.pressure, pressure)
        self.others = others
    }

    /// The UUID of the service Environmental Sensing.
    public var service: CBUUID { EnvironmentalSensingService.uuid }
    /// The temperature, the humidity, the pressure and the other measured values.
    public var values: [any ServedAttribute] { [temperature, humidity, pressure] + others }
}
