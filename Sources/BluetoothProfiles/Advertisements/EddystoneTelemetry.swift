/// The state of an Eddystone beacon, in the clear.
///
/// Source: Google, "Unencrypted TLM Frame Specification".
public struct EddystoneTelemetry: GATTValue, CustomStringConvertible {
    /// The battery in millivolts; nil for a beacon without one.
    public let batteryVoltage: UInt16?
    /// The temperature in 1/256 °C, as it is sent; nil where it is not measured.
    public let rawTemperature: Int16?
    /// How many advertisements were sent since the beacon started.
    public let advertisementCount: UInt32
    /// The time since the beacon started, in tenths of a second.
    public let uptimeTenths: UInt32

    /// The state of a beacon.
    ///
    /// - Parameters:
    ///   - batteryVoltage: Millivolts, more than 0; nil for a beacon without a battery.
    ///   - rawTemperature: 1/256 °C, more than -32768; nil where it is not measured.
    ///   - advertisementCount: Advertisements since the start.
    ///   - uptimeTenths: Tenths of a second since the start.
    public init(
        batteryVoltage: UInt16?, rawTemperature: Int16?, advertisementCount: UInt32, uptimeTenths: UInt32
    ) {
        self.batteryVoltage = batteryVoltage == 0 ? nil : batteryVoltage
        self.rawTemperature = rawTemperature == .min ? nil : rawTemperature
        self.advertisementCount = advertisementCount
        self.uptimeTenths = uptimeTenths
    }

    /// Reads the fields behind the frame's type and version.
    public init(from reader: inout GATTReader) throws(GATTValueError) {
        self.init(
            batteryVoltage: try reader.bigEndian("Battery Voltage"),
            rawTemperature: try reader.bigEndian("Beacon Temperature"),
            advertisementCount: try reader.bigEndian("Advertising PDU Count"),
            uptimeTenths: try reader.bigEndian("Time Since Power-on"))
    }

    /// Writes the fields behind the frame's type and version.
    public func write(to writer: inout GATTWriter) {
        writer.append(bigEndian: batteryVoltage ?? 0)
        writer.append(bigEndian: rawTemperature ?? .min)
        writer.append(bigEndian: advertisementCount)
        writer.append(bigEndian: uptimeTenths)
    }

    /// The temperature in °C; nil where it is not measured.
    public var temperature: Double? { rawTemperature.map { Double($0) / 256 } }

    /// The time since the beacon started.
    public var uptime: Duration { .milliseconds(Int64(uptimeTenths) * 100) }

    /// The beacon's own state.
    public var fields: [AdvertisedField] {
        [
            batteryVoltage.map { AdvertisedField("battery", $0, unit: "mV") },
            temperature.map { AdvertisedField("temperature", .number($0, digits: 2), unit: "°C") },
            AdvertisedField("advertisements", advertisementCount),
            AdvertisedField("uptime", Int(uptimeTenths), digits: 1, unit: "s"),
        ].compactMap { $0 }
    }

    /// The fields in one line.
    public var description: String { fields.map(\.description).joined(separator: ", ") }
}
