public import Foundation

/// An iBeacon: the manufacturer data of Apple that identify a place.
///
/// iOS withholds them from CoreBluetooth and delivers them through Core Location; here they are in
/// `CBAdvertisementDataManufacturerDataKey`. Source: Apple, "Proximity Beacon Specification", R1.
public struct IBeacon: AdvertisedFormat, CustomStringConvertible {
    /// Apple's company identifier.
    public static let company: UInt16 = 0x004C

    /// The UUID that all beacons of one owner share.
    public let uuid: UUID
    /// The number of a group of beacons.
    public let major: UInt16
    /// The number of a beacon within the group.
    public let minor: UInt16
    /// The signal strength that is measured at 1 m, in dBm.
    public let measuredPower: Int8

    /// Creates a beacon; `measuredPower` is in dBm at 1 m.
    public init(uuid: UUID, major: UInt16, minor: UInt16, measuredPower: Int8) {
        self.uuid = uuid
        self.major = major
        self.minor = minor
        self.measuredPower = measuredPower
    }

    /// Reads manufacturer data, company identifier included.
    ///
    /// - Throws: ``GATTValueError``, also if the company, the type or the length is not that of an iBeacon.
    public init(from reader: inout GATTReader) throws(GATTValueError) {
        try reader.constant(Self.company, "Company Identifier")
        try reader.constant(UInt8(0x02), "Beacon Type")
        try reader.constant(UInt8(0x15), "Remaining Length")
        let bytes = [UInt8](try reader.bytes("Proximity UUID", count: 16))
        uuid = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
        major = try reader.bigEndian("Major")
        minor = try reader.bigEndian("Minor")
        measuredPower = try reader.integer("Measured Power")
    }

    /// Writes manufacturer data, company identifier included.
    public func write(to writer: inout GATTWriter) {
        writer.append(Self.company)
        writer.append(bytes: [0x02, 0x15])
        withUnsafeBytes(of: uuid.uuid) { writer.append(bytes: $0) }
        writer.append(bigEndian: major)
        writer.append(bigEndian: minor)
        writer.append(measuredPower)
    }

    /// "iBeacon".
    public static var valueName: String { "iBeacon" }

    /// UUID, major, minor, power.
    public var fields: [AdvertisedField] {
        [
            AdvertisedField("uuid", .text(uuid.uuidString)), AdvertisedField("major", major),
            AdvertisedField("minor", minor), AdvertisedField("power at 1 m", measuredPower, unit: "dBm"),
        ]
    }

    /// The fields in one line.
    public var description: String { fields.map(\.description).joined(separator: ", ") }
}
