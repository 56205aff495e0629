public import CoreBluetooth

/// What a sensor broadcasts in the format BTHome, version 2: the service data of FCD2.
///
/// Source: BTHome, "Format", version 2.
public struct BTHomeAdvertisement: GATTValue, CustomStringConvertible {
    /// The service whose data have the format.
    public static var service: CBUUID { CBUUID(string: "FCD2") }

    /// Whether the device sends only when something happens, such as a button.
    public let isTriggered: Bool
    /// What was measured, in the order of the bytes; empty where it is encrypted.
    public let measurements: [BTHomeMeasurement]
    /// The bytes of an encrypted advertisement, which only the device's owner can read: data, counter and check.
    public let encrypted: Data?
    /// The bytes from the first object on whose number this package does not know, as its length is not known either.
    public let unknown: Data

    private static let encryption: UInt8 = 0x01
    private static let trigger: UInt8 = 0x04
    private static let version: UInt8 = 2

    /// Measurements in the clear, which the format wants in ascending order of their objects.
    public init(_ measurements: [BTHomeMeasurement], isTriggered: Bool = false) {
        self.measurements = measurements
        self.isTriggered = isTriggered
        encrypted = nil
        unknown = Data()
    }

    /// Reads service data.
    ///
    /// - Throws: Also that the version is another one.
    public init(from reader: inout GATTReader) throws(GATTValueError) {
        let information = try reader.uint8("Device Information")
        guard information >> 5 == Self.version else { throw reader.reserved(information, "Device Information") }
        isTriggered = information & Self.trigger != 0
        guard information & Self.encryption == 0 else {
            encrypted = try reader.bytes("Encrypted Data")
            measurements = []
            unknown = Data()
            return
        }
        encrypted = nil
        var measurements: [BTHomeMeasurement] = []
        while reader.count > 0 {
            let object = try reader.uint8("Object ID")
            guard let kind = BTHomeMeasurement.Kind.all[object] else {
                self.measurements = measurements
                unknown = Data([object]) + (try reader.bytes("Object"))
                return
            }
            let length =
                switch kind.content {
                case .text, .raw: Int(try reader.uint8("Length"))
                default: kind.length
                }
            measurements.append(BTHomeMeasurement(object, kind, try reader.bytes(kind.name, count: length)))
        }
        self.measurements = measurements
        unknown = Data()
    }

    /// Writes service data.
    public func write(to writer: inout GATTWriter) {
        let flags = (isTriggered ? Self.trigger : 0) | (encrypted == nil ? 0 : Self.encryption)
        writer.append(Self.version << 5 | flags)
        for measurement in measurements { measurement.write(to: &writer) }
        writer.append(bytes: encrypted ?? unknown)
    }

    /// "BTHome".
    public static var valueName: String { "BTHome" }

    /// What was measured.
    public var fields: [AdvertisedField] {
        guard encrypted == nil else { return [AdvertisedField("encrypted", .flag(true))] }
        return measurements.map(\.field)
    }

    /// The fields in one line.
    public var description: String { fields.map(\.description).joined(separator: ", ") }
}
