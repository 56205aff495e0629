/// The types of values whose layout the Bluetooth SIG defines.
public enum StandardValues {
    /// Returns the type of the value of a characteristic or descriptor.
    ///
    /// `uuid`: The 16-bit UUID: 0x2A37.
    /// - Returns: nil if this package defines no type for it.
    public static func type(of uuid: UInt16) -> (any GATTValue.Type)? { types[uuid] }

    /// The UUIDs that ``type(of:)`` knows.
    public static var uuids: Dictionary<UInt16, any GATTValue.Type>.Keys { types.keys }

    /// Returns a value in words: `72 bpm`.
    ///
    /// - Parameters:
    ///   - value: The bytes of the value.
    ///   - uuid: The 16-bit UUID of its characteristic or descriptor.
    /// - Returns: nil for bytes without a defined layout, and for a value that does not have its layout.
    package static func meaning(of value: Data, of uuid: UInt16) -> String? {
        func text<Value: GATTValue>(_ type: Value.Type) -> String? {
            do throws(GATTValueError) {
                return "\(try type.init(decoding: value))"
            } catch {
                // A malformed value has no meaning; its bytes are shown.
                return nil
            }
        }
        guard let type = types[uuid], type != Data.self else { return nil }
        return text(type)
    }

    private static let types: [UInt16: any GATTValue.Type] = [
        // Generic Access and other services
        0x2A00: String.self, 0x2A01: Appearance.self, 0x2A04: PreferredConnectionParameters.self,
        0x2A06: AlertLevel.self, 0x2A07: TxPowerLevel.self, 0x2A08: DateTime.self, 0x2A09: DayOfWeek.self,
        0x2A63: CyclingPowerMeasurement.self,
        // Battery
        0x2A19: BatteryLevel.self,
        // Device Information
        0x2A23: SystemID.self, 0x2A24: String.self, 0x2A25: String.self, 0x2A26: String.self, 0x2A27: String.self,
        0x2A28: String.self, 0x2A29: String.self, 0x2A2A: Data.self, 0x2A50: PnPID.self,
        0x2BFF: UniqueDeviceIdentifier.self,
        // Heart Rate
        0x2A37: HeartRateMeasurement.self, 0x2A38: BodySensorLocation.self, 0x2A39: HeartRateControlPoint.self,
        // Health Thermometer
        0x2A1C: TemperatureMeasurement.self, 0x2A1D: TemperatureType.self, 0x2A1E: TemperatureMeasurement.self,
        0x2A21: MeasurementInterval.self,
        // Current Time
        0x2A2B: CurrentTime.self, 0x2A0F: LocalTimeInformation.self, 0x2A14: ReferenceTimeInformation.self,
        // Cycling, and Running, Speed and Cadence
        0x2A5B: CSCMeasurement.self, 0x2A5C: CSCFeature.self, 0x2A5D: SensorLocation.self,
        0x2A53: RSCMeasurement.self, 0x2A54: RSCFeature.self,
        // Environmental Sensing
        0x2A2C: MagneticDeclination.self, 0x2A6C: Elevation.self, 0x2A6D: Pressure.self, 0x2A6E: Temperature.self,
        0x2A6F: Humidity.self, 0x2A70: TrueWindSpeed.self, 0x2A71: TrueWindDirection.self,
        0x2A72: ApparentWindSpeed.self, 0x2A73: ApparentWindDirection.self, 0x2A74: GustFactor.self,
        0x2A75: PollenConcentration.self, 0x2A76: UVIndex.self, 0x2A77: Irradiance.self, 0x2A78: Rainfall.self,
        0x2A79: WindChill.self, 0x2A7A: HeatIndex.self, 0x2A7B: DewPoint.self, 0x2AA0: MagneticFluxDensity2D.self,
        0x2AA1: MagneticFluxDensity3D.self, 0x2AA3: BarometricPressureTrend.self,
        // Descriptors
        0x2901: String.self, 0x2902: ClientConfiguration.self, 0x2904: PresentationFormat.self,
        0x290B: ESConfiguration.self, 0x290C: ESMeasurement.self, 0x290D: ESTriggerSetting<Data>.self,
    ]
}

extension GATTValue where Self: FixedWidthInteger {
    /// Reads all bytes of the integer.
    public init(from reader: inout GATTReader) throws(GATTValueError) {
        self = try reader.integer("Integer")
    }

    /// The name of the type: "UInt16".
    public static var valueName: String { "\(Self.self)" }

    /// Writes all bytes of the integer.
    public func write(to writer: inout GATTWriter) { writer.append(self, bytes: Self.bitWidth / 8) }
}

extension UInt8: GATTValue {}
extension UInt16: GATTValue {}
extension UInt32: GATTValue {}
extension UInt64: GATTValue {}
extension Int8: GATTValue {}
extension Int16: GATTValue {}
extension Int32: GATTValue {}
extension Int64: GATTValue {}

extension Bool: GATTValue {
    /// Reads a byte: 0 is false, 1 is true, any other number is reserved.
    public init(from reader: inout GATTReader) throws(GATTValueError) {
        self = try reader.uint8("Boolean", in: 0...1) == 1
    }

    /// Writes a byte, 0 or 1.
    public func write(to writer: inout GATTWriter) { writer.append(UInt8(self ? 1 : 0)) }
}

extension String: GATTValue {
    /// Reads UTF-8 up to the end of the value, without the zeros with which some devices pad it.
    public init(from reader: inout GATTReader) throws(GATTValueError) { self = try reader.text("String") }

    /// Writes UTF-8 without a zero at its end.
    public func write(to writer: inout GATTWriter) { writer.append(text: self) }
}

extension Data: GATTValue {
    /// Reads all bytes.
    public init(from reader: inout GATTReader) throws(GATTValueError) { self = try reader.bytes("Data") }

    /// Writes all bytes.
    public func write(to writer: inout GATTWriter) { writer.append(bytes: self) }
}
