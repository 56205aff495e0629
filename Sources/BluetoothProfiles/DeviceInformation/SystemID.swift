/// System ID (2A23): a number that no other system has.
///
/// Source: Device Information Service 1.1, 3.8; GATT Specification Supplement, System ID.
public struct SystemID: GATTValue, CustomStringConvertible {
    /// The maker's own number, 40 bits.
    public let manufacturerIdentifier: UInt64
    /// The number that the IEEE gave the maker, 24 bits.
    public let organizationallyUniqueIdentifier: UInt32

    /// Takes the low 40 and the low 24 bits.
    public init(manufacturerIdentifier: UInt64, organizationallyUniqueIdentifier: UInt32) {
        self.manufacturerIdentifier = manufacturerIdentifier & 0xFF_FFFF_FFFF
        self.organizationallyUniqueIdentifier = organizationallyUniqueIdentifier & 0xFF_FFFF
    }

    /// The System ID of a Bluetooth device address: its company, 0xFFFE and the number that the company gave.
    ///
    /// `address`: The low 48 bits: 0x123456_9ABCDE for `12:34:56:9A:BC:DE`.
    public init(deviceAddress address: UInt64) {
        self.init(
            manufacturerIdentifier: 0xFFFE << 24 | address & 0xFF_FFFF,
            organizationallyUniqueIdentifier: UInt32(truncatingIfNeeded: address >> 24))
    }

    /// Reads 40 and 24 bits.
    public init(from reader: inout GATTReader) throws(GATTValueError) {
        manufacturerIdentifier = try reader.integer("Manufacturer Identifier", bytes: 5)
        organizationallyUniqueIdentifier = try reader.integer("Organizationally Unique Identifier", bytes: 3)
    }

    /// Writes 40 and 24 bits.
    public func write(to writer: inout GATTWriter) {
        writer.append(manufacturerIdentifier, bytes: 5)
        writer.append(organizationallyUniqueIdentifier, bytes: 3)
    }

    /// Both numbers in hexadecimal.
    public var description: String {
        "organization \(Decimals.hex(organizationallyUniqueIdentifier, width: 6)), "
            + "device \(Decimals.hex(manufacturerIdentifier, width: 10))"
    }
}
