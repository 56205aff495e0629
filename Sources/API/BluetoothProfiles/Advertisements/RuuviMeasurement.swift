import Foundation

/// A measurement of a Ruuvi sensor: data format 3, 5 or 6 in the manufacturer data.
///
/// Values that the sensor or the format does not provide are nil.
/// Source: Ruuvi, "Bluetooth Advertisements", data formats 3 (RAWv1), 5 (RAWv2) and 6.
public struct RuuviMeasurement: AdvertisedFormat, CustomStringConvertible {
    /// The layout of the bytes.
    public enum Format: UInt8, Hashable, Sendable {
        /// RAWv1, used by old firmware.
        case rawV1 = 3
        /// RAWv2.
        case rawV2 = 5
        /// Format 6, used by air quality monitors.
        case airQuality = 6

        /// The number of bytes after the format's number.
        var length: Int {
            switch self {
            case .rawV1: 13
            case .rawV2: 23
            case .airQuality: 19
            }
        }
    }

    /// The company identifier of Ruuvi Innovations.
    public static let company: UInt16 = 0x0499

    /// The layout of the bytes.
    public let format: Format
    /// The bytes after the format's number; the format defines their length.
    private let bytes: [UInt8]

    /// Reads manufacturer data, company identifier included.
    ///
    /// - Throws: ``GATTValueError``, also if the company or the format is not one of Ruuvi's.
    public init(from reader: inout GATTReader) throws(GATTValueError) {
        try reader.constant(Self.company, "Company Identifier")
        format = try reader.value("Data Format")
        bytes = [UInt8](try reader.bytes("Data", count: format.length))
    }

    /// Writes manufacturer data, company identifier included.
    public func write(to writer: inout GATTWriter) {
        writer.append(Self.company)
        writer.append(bytes: [format.rawValue] + bytes)
    }

    /// "Ruuvi".
    public static var valueName: String { "Ruuvi" }

    // MARK: Numbers as they are sent

    /// Two bytes, most significant first; offsets count from the format's number, as in Ruuvi's tables.
    private func word(_ offset: Int) -> Int { Int(bytes[offset - 1]) << 8 | Int(bytes[offset]) }

    private func signed(_ offset: Int) -> Int { Int(Int16(truncatingIfNeeded: word(offset))) }

    /// Returns the number; nil if it means "not available".
    private func available(_ number: Int, unless none: Int) -> Int? { number == none ? nil : number }

    /// The temperature in thousandths of a degree.
    private var rawTemperature: Int? {
        guard format != .rawV1 else {
            // The sign and whole degrees, then hundredths.
            let degrees = Int(bytes[1] & 0x7F) * 1000 + Int(bytes[2]) * 10
            return bytes[1] & 0x80 == 0 ? degrees : -degrees
        }
        return available(signed(1), unless: -32768).map { $0 * 5 }
    }

    /// The humidity in ten thousandths of a percent.
    private var rawHumidity: Int? {
        format == .rawV1 ? Int(bytes[0]) * 5000 : available(word(3), unless: 0xFFFF).map { $0 * 25 }
    }

    // MARK: Values

    /// The temperature in °C.
    public var temperature: Double? { rawTemperature.map { Decimals.scaled($0, exponent: -3) } }

    /// The relative humidity in percent.
    public var humidity: Double? { rawHumidity.map { Decimals.scaled($0, exponent: -4) } }

    /// The air pressure in pascal.
    public var pressure: Int? {
        format == .rawV1 ? word(4) + 50_000 : available(word(5), unless: 0xFFFF).map { $0 + 50_000 }
    }

    /// The acceleration along three axes, in thousandths of the standard gravity.
    public var acceleration: (x: Int, y: Int, z: Int)? {
        let start: Int
        switch format {
        case .rawV1: start = 6
        case .rawV2: start = 7
        case .airQuality: return nil
        }
        let axes = [signed(start), signed(start + 2), signed(start + 4)]
        guard format == .rawV1 || !axes.contains(-32768) else { return nil }
        return (axes[0], axes[1], axes[2])
    }

    /// The battery in millivolts.
    public var batteryVoltage: Int? {
        switch format {
        case .rawV1: word(12)
        case .rawV2: available(word(13) >> 5, unless: 0x7FF).map { $0 + 1600 }
        case .airQuality: nil
        }
    }

    /// The power of the transmitter in dBm.
    public var txPower: Int? {
        format == .rawV2 ? available(word(13) & 0x1F, unless: 0x1F).map { $0 * 2 - 40 } : nil
    }

    /// The number of movements of the sensor, modulo 255.
    public var movementCount: Int? { format == .rawV2 ? available(Int(bytes[14]), unless: 0xFF) : nil }

    /// The number of the measurement, which repeated advertisements share.
    public var sequenceNumber: Int? {
        switch format {
        case .rawV1: nil
        case .rawV2: available(word(16), unless: 0xFFFF)
        case .airQuality: Int(bytes[14])
        }
    }

    /// Particles of up to 2.5 µm, in µg/m³.
    public var particulateMatter: Double? { rawParticulateMatter.map { Decimals.scaled($0, exponent: -1) } }

    private var rawParticulateMatter: Int? {
        format == .airQuality ? available(word(7), unless: 0xFFFF) : nil
    }

    /// Carbon dioxide in parts per million.
    public var carbonDioxide: Int? { format == .airQuality ? available(word(9), unless: 0xFFFF) : nil }

    /// The index of volatile organic compounds, 0...500; 100 is the average of the place.
    public var volatileOrganicCompounds: Int? {
        format == .airQuality ? available(Int(bytes[10]) << 1 | Int(bytes[15] >> 6 & 1), unless: 0x1FF) : nil
    }

    /// The index of nitrogen oxides, 0...500; 1 is the base.
    public var nitrogenOxides: Int? {
        format == .airQuality ? available(Int(bytes[11]) << 1 | Int(bytes[15] >> 7 & 1), unless: 0x1FF) : nil
    }

    /// The light in lux.
    public var luminosity: Double? {
        guard format == .airQuality, let code = available(Int(bytes[12]), unless: 0xFF) else { return nil }
        return exp(Double(code) * log(65536) / 254) - 1
    }

    /// Whether the sensor still calibrates itself.
    public var isCalibrating: Bool? { format == .airQuality ? bytes[15] & 1 == 1 : nil }

    /// The device's address, `CB:B8:33:4C:88:4F`; of format 6 the last three bytes, `4C:88:4F`.
    public var address: String? {
        let last = format == .rawV2 ? 6 : format == .airQuality ? 3 : 0
        let address = bytes.suffix(last)
        guard !address.isEmpty, address.contains(where: { $0 != 0xFF }) else { return nil }
        return address.map { Decimals.hex($0, width: 2) }.joined(separator: ":")
    }

    /// The measured values.
    public var fields: [AdvertisedField] {
        let acceleration = acceleration.map { [("x", $0.x), ("y", $0.y), ("z", $0.z)] } ?? []
        let fields: [AdvertisedField?] =
            [
                AdvertisedField("temperature", rawTemperature, digits: 3, unit: "°C"),
                AdvertisedField("humidity", rawHumidity, digits: 4, unit: "%"),
                AdvertisedField("pressure", pressure, digits: 2, unit: "hPa"),
            ] + acceleration.map { AdvertisedField("acceleration \($0)", $1, digits: 3, unit: "g") }
            + [
                AdvertisedField("battery", batteryVoltage, digits: 0, unit: "mV"),
                AdvertisedField("tx power", txPower, digits: 0, unit: "dBm"),
                AdvertisedField("movements", movementCount, digits: 0),
                AdvertisedField("PM2.5", rawParticulateMatter, digits: 1, unit: "µg/m³"),
                AdvertisedField("CO2", carbonDioxide, digits: 0, unit: "ppm"),
                AdvertisedField("VOC", volatileOrganicCompounds, digits: 0),
                AdvertisedField("NOX", nitrogenOxides, digits: 0),
                luminosity.map { AdvertisedField("luminosity", .number($0, digits: 2), unit: "lx") },
                isCalibrating.map { AdvertisedField("calibrating", .flag($0)) },
                AdvertisedField("sequence", sequenceNumber, digits: 0),
                address.map { AdvertisedField("address", .text($0)) },
            ]
        return fields.compactMap { $0 }
    }

    /// The fields in one line.
    public var description: String { fields.map(\.description).joined(separator: ", ") }
}
