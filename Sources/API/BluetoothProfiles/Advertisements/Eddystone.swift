import BluetoothSupport
public import CoreBluetooth
import Foundation

/// A frame of an Eddystone beacon: the service data of FEAA.
///
/// Source: Google, "Eddystone Protocol Specification", and the pages of its frame types.
public enum EddystoneFrame: AdvertisedFormat, CustomStringConvertible {
    /// An identifier: 10 bytes of namespace, 6 of instance; the power in dBm at 0 m.
    case uid(power: Int8, namespace: Data, instance: Data)
    /// A web address; the power in dBm at 0 m.
    case url(EddystoneURL, power: Int8)
    /// The state of the beacon.
    case telemetry(EddystoneTelemetry)
    /// The state of the beacon, encrypted: 12 bytes, salt and check of 2 bytes each.
    case encryptedTelemetry(Data, salt: UInt16, check: UInt16)
    /// An identifier of 8 bytes that changes, and that only the beacon's owner can resolve; the power in dBm at 0 m.
    case ephemeralIdentifier(Data, power: Int8)

    /// The service whose data contain the frames.
    public static var service: CBUUID { CBUUID(string: "FEAA") }

    /// Reads service data.
    ///
    /// - Throws: ``GATTValueError``, also if the type or version of the frame is reserved.
    public init(from reader: inout GATTReader) throws(GATTValueError) {
        let type = try reader.uint8("Frame Type")
        switch type {
        case 0x00:
            let power: Int8 = try reader.integer("Ranging Data")
            self = .uid(
                power: power, namespace: try reader.bytes("Namespace", count: 10),
                instance: try reader.bytes("Instance", count: 6))
            // Two reserved bytes, which early beacons leave out.
            if reader.count > 0 { _ = try reader.bytes("RFU", count: 2) }
        case 0x10:
            let power: Int8 = try reader.integer("TX Power")
            self = .url(try EddystoneURL(from: &reader), power: power)
        case 0x20:
            guard try reader.uint8("Version", in: 0...1) == 1 else {
                self = .telemetry(try EddystoneTelemetry(from: &reader))
                return
            }
            let data = try reader.bytes("ETLM", count: 12)
            self = .encryptedTelemetry(data, salt: try reader.bigEndian("Salt"), check: try reader.bigEndian("MIC"))
        case 0x30:
            let power: Int8 = try reader.integer("Ranging Data")
            self = .ephemeralIdentifier(try reader.bytes("EID", count: 8), power: power)
        default: throw reader.reserved(type, "Frame Type")
        }
    }

    /// Writes service data.
    public func write(to writer: inout GATTWriter) {
        switch self {
        case .uid(let power, let namespace, let instance):
            writer.append(bytes: [0x00, UInt8(bitPattern: power)] + namespace + instance + [0, 0])
        case .url(let url, let power):
            writer.append(bytes: [0x10, UInt8(bitPattern: power)])
            writer.append(url)
        case .telemetry(let telemetry):
            writer.append(bytes: [0x20, 0])
            writer.append(telemetry)
        case .encryptedTelemetry(let data, let salt, let check):
            writer.append(bytes: [0x20, 1] + data)
            writer.append(bigEndian: salt)
            writer.append(bigEndian: check)
        case .ephemeralIdentifier(let data, let power):
            writer.append(bytes: [0x30, UInt8(bitPattern: power)] + data)
        }
    }

    /// "Eddystone".
    public static var valueName: String { "Eddystone" }

    /// The fields of the frame.
    public var fields: [AdvertisedField] {
        switch self {
        case .uid(let power, let namespace, let instance):
            [
                AdvertisedField("namespace", .text(namespace.hexText)),
                AdvertisedField("instance", .text(instance.hexText)),
                AdvertisedField("power at 0 m", power, unit: "dBm"),
            ]
        case .url(let url, let power):
            [AdvertisedField("url", .text(url.text)), AdvertisedField("power at 0 m", power, unit: "dBm")]
        case .telemetry(let telemetry): telemetry.fields
        case .encryptedTelemetry(let data, _, _): [AdvertisedField("encrypted telemetry", .text(data.hexText))]
        case .ephemeralIdentifier(let data, let power):
            [
                AdvertisedField("ephemeral identifier", .text(data.hexText)),
                AdvertisedField("power at 0 m", power, unit: "dBm"),
            ]
        }
    }

    /// The fields in one line.
    public var description: String { fields.map(\.description).joined(separator: ", ") }
}

/// A web address as an Eddystone beacon sends it: compressed.
///
/// Source: Google, "Eddystone-URL", URL Scheme Prefix and HTTP URL encoding.
public struct EddystoneURL: GATTValue, CustomStringConvertible {
    private static let schemes = ["http://www.", "https://www.", "http://", "https://"]
    private static let endings = [
        ".com/", ".org/", ".edu/", ".net/", ".info/", ".biz/", ".gov/", ".com", ".org", ".edu", ".net", ".info", ".biz",
        ".gov",
    ]

    /// The encoded bytes: the scheme, then characters and codes of endings.
    private let bytes: Data
    /// The address.
    public let text: String

    /// Compresses an address.
    ///
    /// - Returns: nil for a scheme other than `http` and `https`, and for characters that a URL does not have. An
    ///   advertisement has room for 18 bytes.
    public init?(_ text: String) {
        // The longest prefix first: "http://www." before "http://".
        guard let scheme = Self.schemes.firstIndex(where: text.hasPrefix) else { return nil }
        var bytes = Data([UInt8(scheme)])
        var rest = text.dropFirst(Self.schemes[scheme].count)
        while let first = rest.first {
            if let ending = Self.endings.firstIndex(where: rest.hasPrefix) {
                bytes.append(UInt8(ending))
                rest = rest.dropFirst(Self.endings[ending].count)
            } else {
                guard let byte = first.asciiValue, Self.isGraphic(byte) else { return nil }
                bytes.append(byte)
                rest = rest.dropFirst()
            }
        }
        self.text = text
        self.bytes = bytes
    }

    /// Reads the scheme and the rest of the value.
    ///
    /// - Throws: ``GATTValueError``, also if the scheme or a character is reserved.
    public init(from reader: inout GATTReader) throws(GATTValueError) {
        bytes = try reader.bytes("Encoded URL")
        guard let scheme = bytes.first else { throw reader.tooShort("URL Scheme", needed: 1) }
        guard Self.schemes.indices.contains(Int(scheme)) else { throw reader.reserved(scheme, "URL Scheme") }
        var text = Self.schemes[Int(scheme)]
        for byte in bytes.dropFirst() {
            if Self.endings.indices.contains(Int(byte)) {
                text += Self.endings[Int(byte)]
            } else if Self.isGraphic(byte) {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                throw reader.reserved(byte, "Encoded URL")
            }
        }
        self.text = text
    }

    /// Writes scheme and address.
    public func write(to writer: inout GATTWriter) { writer.append(bytes: bytes) }

    /// "Eddystone URL".
    public static var valueName: String { "Eddystone URL" }

    /// The address.
    public var description: String { text }

    /// Whether the byte is a graphic character of ASCII, which a space is not.
    private static func isGraphic(_ byte: UInt8) -> Bool { (0x21...0x7E).contains(byte) }
}

/// The state of an Eddystone beacon, in the clear.
///
/// Source: Google, "Unencrypted TLM Frame Specification".
public struct EddystoneTelemetry: GATTValue, CustomStringConvertible {
    /// The battery in millivolts; nil for a beacon without one.
    public let batteryVoltage: UInt16?
    /// The temperature in 1/256 °C, as it is sent; nil if it is not measured.
    public let rawTemperature: Int16?
    /// The number of advertisements since the beacon started.
    public let advertisementCount: UInt32
    /// The time since the beacon started, in tenths of a second.
    public let uptimeTenths: UInt32

    /// Creates the state of a beacon.
    ///
    /// - Parameters:
    ///   - batteryVoltage: Millivolts, more than 0; nil for a beacon without a battery.
    ///   - rawTemperature: 1/256 °C, more than -32768; nil if it is not measured.
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

    /// Reads the fields after the frame's type and version.
    public init(from reader: inout GATTReader) throws(GATTValueError) {
        self.init(
            batteryVoltage: try reader.bigEndian("Battery Voltage"),
            rawTemperature: try reader.bigEndian("Beacon Temperature"),
            advertisementCount: try reader.bigEndian("Advertising PDU Count"),
            uptimeTenths: try reader.bigEndian("Time Since Power-on"))
    }

    /// Writes the fields after the frame's type and version.
    public func write(to writer: inout GATTWriter) {
        writer.append(bigEndian: batteryVoltage ?? 0)
        writer.append(bigEndian: rawTemperature ?? .min)
        writer.append(bigEndian: advertisementCount)
        writer.append(bigEndian: uptimeTenths)
    }

    /// The temperature in °C; nil if it is not measured.
    public var temperature: Double? { rawTemperature.map { Double($0) / 256 } }

    /// The time since the beacon started.
    public var uptime: Duration { .milliseconds(Int64(uptimeTenths) * 100) }

    /// The fields of the beacon's state.
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
