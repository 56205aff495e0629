public import CoreBluetooth

/// The service Environmental Sensing (181A): its characteristics.
///
/// Source: Environmental Sensing Service 1.0.
public enum EnvironmentalSensingService {
    /// The service's UUID.
    public static let uuid = CBUUID(string: "181A")
    /// The temperature (2A6E).
    public static let temperature = GATTCharacteristic<Temperature>("2A6E", in: "181A", [.read, .notify])
    /// The relative humidity (2A6F).
    public static let humidity = GATTCharacteristic<Humidity>("2A6F", in: "181A", [.read, .notify])
    /// The pressure of the air (2A6D).
    public static let pressure = GATTCharacteristic<Pressure>("2A6D", in: "181A", [.read, .notify])
    /// The height above sea level (2A6C).
    public static let elevation = GATTCharacteristic<Elevation>("2A6C", in: "181A", [.read, .notify])
    /// The speed of the wind (2A70).
    public static let trueWindSpeed = GATTCharacteristic<TrueWindSpeed>("2A70", in: "181A", [.read, .notify])
    /// Where the wind comes from (2A71).
    public static let trueWindDirection = GATTCharacteristic<TrueWindDirection>("2A71", in: "181A", [.read, .notify])
    /// The speed of the wind for one who moves (2A72).
    public static let apparentWindSpeed = GATTCharacteristic<ApparentWindSpeed>("2A72", in: "181A", [.read, .notify])
    /// Where the wind comes from for one who moves (2A73).
    public static let apparentWindDirection = GATTCharacteristic<ApparentWindDirection>(
        CBUUID(string: "2A73"), in: uuid, [.read, .notify])
    /// How strong the gusts are (2A74).
    public static let gustFactor = GATTCharacteristic<GustFactor>("2A74", in: "181A", [.read, .notify])
    /// The pollen in the air (2A75).
    public static let pollenConcentration = GATTCharacteristic<PollenConcentration>(
        CBUUID(string: "2A75"), in: uuid, [.read, .notify])
    /// The sun's ultraviolet light (2A76).
    public static let uvIndex = GATTCharacteristic<UVIndex>("2A76", in: "181A", [.read, .notify])
    /// The power of light (2A77).
    public static let irradiance = GATTCharacteristic<Irradiance>("2A77", in: "181A", [.read, .notify])
    /// The rain (2A78).
    public static let rainfall = GATTCharacteristic<Rainfall>("2A78", in: "181A", [.read, .notify])
    /// The temperature that one feels in the wind (2A79).
    public static let windChill = GATTCharacteristic<WindChill>("2A79", in: "181A", [.read, .notify])
    /// The temperature that one feels in humid air (2A7A).
    public static let heatIndex = GATTCharacteristic<HeatIndex>("2A7A", in: "181A", [.read, .notify])
    /// The temperature at which water condenses (2A7B).
    public static let dewPoint = GATTCharacteristic<DewPoint>("2A7B", in: "181A", [.read, .notify])
    /// The angle between magnetic and true north (2A2C).
    public static let magneticDeclination = GATTCharacteristic<MagneticDeclination>(
        CBUUID(string: "2A2C"), in: uuid, [.read, .notify])
    /// A magnetic field along two axes (2AA0).
    public static let magneticFluxDensity2D = GATTCharacteristic<MagneticFluxDensity2D>(
        CBUUID(string: "2AA0"), in: uuid, [.read, .notify])
    /// A magnetic field along three axes (2AA1).
    public static let magneticFluxDensity3D = GATTCharacteristic<MagneticFluxDensity3D>(
        CBUUID(string: "2AA1"), in: uuid, [.read, .notify])
    /// How the pressure changed (2AA3).
    public static let pressureTrend = GATTCharacteristic<BarometricPressureTrend>(
        CBUUID(string: "2AA3"), in: uuid, [.read, .notify])
}
