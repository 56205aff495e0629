public import AsyncBluetooth
public import CoreBluetooth

/// A typed value of an advertisement, which a beacon or a sensor broadcasts.
///
/// Any device can send advertisements. Malformed bytes are not a value, and never trap; they stay in the advertisement.
public enum AdvertisedValue: Hashable, Sendable, CustomStringConvertible {
    /// Sensor data in the format BTHome, version 2.
    case btHome(BTHomeAdvertisement)
    /// A frame of an Eddystone beacon.
    case eddystone(EddystoneFrame)
    /// An iBeacon.
    case iBeacon(IBeacon)
    /// A measurement of a Ruuvi sensor.
    case ruuvi(RuuviMeasurement)

    /// The values of an advertisement, in the order of the cases.
    ///
    /// - Parameters:
    ///   - serviceData: The service data by UUID.
    ///   - manufacturerData: The manufacturer data, which begin with the company identifier.
    public static func values(serviceData: [CBUUID: Data], manufacturerData: Data?) -> [AdvertisedValue] {
        var values: [AdvertisedValue] = []
        // Malformed bytes are not a value of their format.
        if let data = serviceData[BTHomeAdvertisement.service], let value = try? BTHomeAdvertisement(decoding: data) {
            values.append(.btHome(value))
        }
        if let data = serviceData[EddystoneFrame.service], let value = try? EddystoneFrame(decoding: data) {
            values.append(.eddystone(value))
        }
        guard let manufacturerData else { return values }
        if let value = try? IBeacon(decoding: manufacturerData) { values.append(.iBeacon(value)) }
        if let value = try? RuuviMeasurement(decoding: manufacturerData) { values.append(.ruuvi(value)) }
        return values
    }

    /// Returns the values of the dictionary that `centralManager(_:didDiscover:advertisementData:rssi:)` receives.
    public static func values(in advertisementData: [String: Any]) -> [AdvertisedValue] {
        values(
            serviceData: advertisementData[CBAdvertisementDataServiceDataKey] as? [CBUUID: Data] ?? [:],
            manufacturerData: advertisementData[CBAdvertisementDataManufacturerDataKey] as? Data)
    }

    private var content: any AdvertisedFormat {
        switch self {
        case .btHome(let value): value
        case .eddystone(let value): value
        case .iBeacon(let value): value
        case .ruuvi(let value): value
        }
    }

    /// The name of the format: "BTHome", "Eddystone", "iBeacon", "Ruuvi".
    public var format: String { type(of: content).valueName }

    /// The fields of the value in the format's order; unavailable ones are omitted.
    public var fields: [AdvertisedField] { content.fields }

    /// `Ruuvi: temperature 24.300 °C, humidity 53.4900 %`.
    public var description: String {
        let fields = fields.map(\.description).joined(separator: ", ")
        return fields.isEmpty ? format : "\(format): \(fields)"
    }
}

/// A format of advertised values.
protocol AdvertisedFormat: GATTValue {
    var fields: [AdvertisedField] { get }
}

extension AdvertisedData {
    /// The decoded values of beacons and sensors.
    public var values: [AdvertisedValue] {
        AdvertisedValue.values(serviceData: serviceData, manufacturerData: manufacturerData)
    }

    /// The company that defines the manufacturer data; nil without such data.
    public var companyIdentifier: CompanyIdentifier? {
        manufacturerData.flatMap(CompanyIdentifier.init(manufacturerData:))
    }
}

/// One field of an advertised value: a name, a value and a unit.
///
/// Tools print fields, and gateways forward them, without knowledge of the format.
public struct AdvertisedField: Hashable, Sendable, CustomStringConvertible {
    /// The contents of a field.
    public enum Value: Hashable, Sendable {
        /// A number with the number of decimal digits that its resolution gives, 0...9.
        case number(Double, digits: Int)
        /// A state that is on or off, present or absent.
        case flag(Bool)
        /// Text, an identifier, or bytes in hexadecimal.
        case text(String)
    }

    /// The name in lower case, as in the format's specification: "temperature", "major".
    public let name: String
    /// The value.
    public let value: Value
    /// The unit: "°C", "%", "hPa"; nil for a field without one.
    public let unit: String?

    /// Creates a field.
    public init(_ name: String, _ value: Value, unit: String? = nil) {
        self.name = name
        self.value = value
        self.unit = unit
    }

    /// Creates a field with a whole number.
    init(_ name: String, _ number: some BinaryInteger, unit: String? = nil) {
        self.init(name, .number(Double(number), digits: 0), unit: unit)
    }

    /// Creates a field with the number `mantissa` times ten to the minus `digits`; nil if the mantissa is not
    /// available.
    init?(_ name: String, _ mantissa: Int?, digits: Int, unit: String? = nil) {
        guard let mantissa else { return nil }
        self.init(name, .number(Decimals.scaled(mantissa, exponent: -digits), digits: digits), unit: unit)
    }

    /// `temperature 24.30 °C`.
    public var description: String {
        let text =
            switch value {
            case .number(let number, let digits): Decimals.fixed(number, digits)
            case .flag(let flag): flag ? "yes" : "no"
            case .text(let text): text
            }
        return "\(name) \(text)" + (unit.map { " \($0)" } ?? "")
    }
}

/// Numbers of beacons, which are sent most significant byte first.
extension GATTReader {
    /// Reads the next integer, most significant byte first.
    ///
    /// - Throws: ``GATTValueError`` if the value is too short.
    mutating func bigEndian<Number: FixedWidthInteger>(
        _ field: @autoclosure () -> String
    ) throws(GATTValueError) -> Number {
        let number: Number = try integer(field())
        return number.byteSwapped
    }
}

extension GATTWriter {
    /// Appends an integer, most significant byte first.
    mutating func append(bigEndian number: some FixedWidthInteger) { append(number.byteSwapped) }
}

/// The company identifier at the start of manufacturer data, which names the company that defines the bytes after it.
///
/// Any device can send any identifier; it proves nothing about the device's manufacturer.
/// Source: Assigned Numbers, 7.1; Supplement to the Core Specification, Part A, 1.4.
public struct CompanyIdentifier: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The number.
    public let rawValue: UInt16

    /// Creates an identifier from its number.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Reads the identifier of manufacturer data: their first two bytes, least significant first.
    ///
    /// - Returns: nil for fewer than two bytes.
    public init?(manufacturerData: Data) {
        let bytes = manufacturerData.prefix(2)
        guard let low = bytes.first, let high = bytes.dropFirst().first else { return nil }
        rawValue = UInt16(high) << 8 | UInt16(low)
    }

    /// The company's name: `Ruuvi Innovations Ltd.` for 0x0499; nil for a number that is not assigned.
    ///
    /// A program that uses the name contains the names of all companies, about 80 kB; no other program does.
    @_alwaysEmitIntoClient
    public var name: String? { AssignedNumbers.company(rawValue) }

    /// The number: `0x0499`.
    public var description: String { "0x" + Decimals.hex(rawValue, width: 4) }
}
