/// PnP ID (2A50): the vendor, the product and its version.
///
/// Source: Device Information Service 1.1, 3.9; GATT Specification Supplement, PnP ID.
public struct PnPID: GATTValue, CustomStringConvertible {
    /// The authority that assigned the vendor's number.
    public enum Source: UInt8, GATTValue, CaseIterable, CustomStringConvertible {
        /// The Bluetooth SIG.
        case bluetooth = 1
        /// The USB Implementers Forum.
        case usb = 2

        /// In words.
        public var description: String { self == .bluetooth ? "Bluetooth" : "USB" }
    }

    /// The authority that assigned the vendor's number.
    public var source: Source
    /// The vendor.
    public var vendor: UInt16
    /// The vendor's number of the product.
    public var product: UInt16
    /// The product's version, as 0xJJMN for JJ.M.N: 0x0213 is 2.1.3.
    public var version: UInt16

    /// A product.
    public init(source: Source, vendor: UInt16, product: UInt16, version: UInt16) {
        self.source = source
        self.vendor = vendor
        self.product = product
        self.version = version
    }

    /// "PnP ID".
    public static var valueName: String { "PnP ID" }

    /// Reads seven bytes.
    ///
    /// - Throws: That the source is reserved.
    public init(from reader: inout GATTReader) throws(GATTValueError) {
        let raw = try reader.uint8("Vendor ID Source")
        guard let source = Source(rawValue: raw) else { throw reader.reserved(raw, "Vendor ID Source") }
        self.source = source
        vendor = try reader.uint16("Vendor ID")
        product = try reader.uint16("Product ID")
        version = try reader.uint16("Product Version")
    }

    /// Writes seven bytes.
    public func write(to writer: inout GATTWriter) {
        writer.append(source)
        for number in [vendor, product, version] { writer.append(number, bytes: 2) }
    }

    /// The version as people write it: `2.1.3`.
    public var versionText: String {
        [version >> 8, version >> 4 & 0xF, version & 0xF].map { String($0, radix: 16, uppercase: true) }
            .joined(separator: ".")
    }

    /// `USB vendor 1D6B, product 0246, version 5.4.2`.
    public var description: String {
        "\(source) vendor \(Decimals.hex(vendor, width: 4)), product \(Decimals.hex(product, width: 4)), "
            + "version \(versionText)"
    }
}
