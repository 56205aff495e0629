import Foundation

/// A value whose layout the Bluetooth SIG fixes, decoded for people.
///
/// Source: GATT Specification Supplement. Bytes come from a peer and may be anything: what does not fit is nil.
protocol StandardValue: Sendable {
    /// Decodes the bytes of a characteristic's value; nil where they break the layout.
    init?(_ data: Data)

    /// For people, one line.
    var text: String { get }
}

/// The decoders by characteristic or descriptor.
enum StandardValues {
    /// The value as text.
    ///
    /// - Parameters:
    ///   - uuid: The 16-bit UUID of the characteristic or descriptor.
    ///   - data: Its value.
    /// - Returns: nil where the UUID has no decoder or the value is malformed.
    static func text(of uuid: UInt16, _ data: Data) -> String? {
        decoders[uuid]?.init(data)?.text
    }

    private static let decoders: [UInt16: any StandardValue.Type] = [
        0x2A00: UTF8Text.self,
        0x2A01: Appearance.self,
        0x2A04: PreferredConnectionParameters.self,
        0x2A06: AlertLevel.self,
        0x2A07: TxPowerLevel.self,
        0x2A08: DateTime.self,
        0x2A19: BatteryLevel.self,
        0x2A1C: TemperatureMeasurement.self,
        0x2A1D: TemperatureType.self,
        0x2A1E: TemperatureMeasurement.self,
        0x2A23: SystemID.self,
        0x2A24: UTF8Text.self,
        0x2A25: UTF8Text.self,
        0x2A26: UTF8Text.self,
        0x2A27: UTF8Text.self,
        0x2A28: UTF8Text.self,
        0x2A29: UTF8Text.self,
        0x2A2B: CurrentTime.self,
        0x2A37: HeartRateMeasurement.self,
        0x2A38: BodySensorLocation.self,
        0x2A50: PnPID.self,
        0x2A53: RunningSpeedAndCadence.self,
        0x2A5B: CyclingSpeedAndCadence.self,
        0x2A5D: SensorLocation.self,
        0x2A63: CyclingPower.self,
        0x2A6D: Pressure.self,
        0x2A6E: Temperature.self,
        0x2A6F: Humidity.self,
        0x2901: UTF8Text.self,
        0x2902: ClientConfiguration.self,
        0x2904: PresentationFormat.self,
    ]
}
