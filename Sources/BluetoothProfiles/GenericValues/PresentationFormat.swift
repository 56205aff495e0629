/// Characteristic Presentation Format (2904): how to read a characteristic's value.
///
/// Sources: Core Specification, Vol 3, Part G, 3.3.3.5; Assigned Numbers, 2.4.
public struct PresentationFormat: GATTValue, CustomStringConvertible {
    private static let formats: [UInt8: String] = [
        0x01: "boolean", 0x02: "uint2", 0x03: "uint4", 0x04: "uint8", 0x05: "uint12", 0x06: "uint16", 0x07: "uint24",
        0x08: "uint32", 0x09: "uint48", 0x0A: "uint64", 0x0B: "uint128", 0x0C: "sint8", 0x0D: "sint12",
        0x0E: "sint16", 0x0F: "sint24", 0x10: "sint32", 0x11: "sint48", 0x12: "sint64", 0x13: "sint128",
        0x14: "float32", 0x15: "float64", 0x16: "medfloat16", 0x17: "medfloat32", 0x18: "uint16 pair",
        0x19: "utf8s", 0x1A: "utf16s", 0x1B: "struct", 0x1C: "medASN1",
    ]

    /// The number of the format.
    public var format: UInt8
    /// The exponent to the base 10 of integers.
    public var exponent: Int8
    /// The 16-bit UUID of the unit.
    public var unit: UInt16
    /// The organization that defines the description; 1 is the Bluetooth SIG.
    public var namespace: UInt8
    /// What the value describes, among several of a device.
    public var descriptionNumber: UInt16

    /// A format.
    public init(format: UInt8, exponent: Int8, unit: UInt16, namespace: UInt8 = 1, descriptionNumber: UInt16 = 0) {
        self.format = format
        self.exponent = exponent
        self.unit = unit
        self.namespace = namespace
        self.descriptionNumber = descriptionNumber
    }

    /// Reads seven bytes.
    public init(from reader: inout GATTReader) throws(GATTValueError) {
        format = try reader.uint8("Format")
        exponent = try reader.integer("Exponent")
        unit = try reader.uint16("Unit")
        namespace = try reader.uint8("Name Space")
        descriptionNumber = try reader.uint16("Description")
    }

    /// Writes seven bytes.
    public func write(to writer: inout GATTWriter) {
        writer.append(format)
        writer.append(exponent)
        writer.append(unit)
        writer.append(namespace)
        writer.append(descriptionNumber)
    }

    /// `uint8, exponent 0, unit 2700`.
    public var description: String {
        "\(Self.formats[format] ?? "format \(format)"), exponent \(exponent), unit \(Decimals.hex(unit, width: 4))"
    }
}
