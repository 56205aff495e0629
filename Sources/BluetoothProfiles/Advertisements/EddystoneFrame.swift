public import CoreBluetooth

/// A frame of an Eddystone beacon: the service data of FEAA.
///
/// Source: Google, "Eddystone Protocol Specification", and the pages of its frame types.
public enum EddystoneFrame: GATTValue, CustomStringConvertible {
    /// An identifier: 10 bytes of namespace, 6 of instance; the power in dBm at 0 m.
    case uid(power: Int8, namespace: Data, instance: Data)
    /// An address of the web; the power in dBm at 0 m.
    case url(EddystoneURL, power: Int8)
    /// The state of the beacon.
    case telemetry(EddystoneTelemetry)
    /// The state of the beacon, encrypted: 12 bytes, salt and check of 2 bytes each.
    case encryptedTelemetry(Data, salt: UInt16, check: UInt16)
    /// An identifier of 8 bytes that changes, and that only the beacon's owner can resolve; the power in dBm at 0 m.
    case ephemeralIdentifier(Data, power: Int8)

    /// The service whose data hold the frames.
    public static var service: CBUUID { CBUUID(string: "FEAA") }

    /// Reads service data.
    ///
    /// - Throws: Also that the type or version of the frame is reserved.
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

    /// What the frame says.
    public var fields: [AdvertisedField] {
        switch self {
        case .uid(let power, let namespace, let instance):
            [
                AdvertisedField("namespace", .text(Self.hex(namespace))),
                AdvertisedField("instance", .text(Self.hex(instance))),
                AdvertisedField("power at 0 m", power, unit: "dBm"),
            ]
        case .url(let url, let power):
            [AdvertisedField("url", .text(url.text)), AdvertisedField("power at 0 m", power, unit: "dBm")]
        case .telemetry(let telemetry): telemetry.fields
        case .encryptedTelemetry(let data, _, _): [AdvertisedField("encrypted telemetry", .text(Self.hex(data)))]
        case .ephemeralIdentifier(let data, let power):
            [
                AdvertisedField("ephemeral identifier", .text(Self.hex(data))),
                AdvertisedField("power at 0 m", power, unit: "dBm"),
            ]
        }
    }

    /// The fields in one line.
    public var description: String { fields.map(\.description).joined(separator: ", ") }

    private static func hex(_ data: Data) -> String { data.map { Decimals.hex($0, width: 2) }.joined() }
}
