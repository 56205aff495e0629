/// System ID (2A23): a unique number of the system.
///
/// Source: Device Information Service 1.1, 3.8; GATT Specification Supplement, System ID.
public struct SystemID: GATTValue, CustomStringConvertible {
    /// The number that the manufacturer assigned, 40 bits.
    public let manufacturerIdentifier: UInt64
    /// The number that the IEEE assigned to the manufacturer, 24 bits.
    public let organizationallyUniqueIdentifier: UInt32

    /// Creates an identifier from the low 40 and the low 24 bits.
    public init(manufacturerIdentifier: UInt64, organizationallyUniqueIdentifier: UInt32) {
        self.manufacturerIdentifier = manufacturerIdentifier & 0xFF_FFFF_FFFF
        self.organizationallyUniqueIdentifier = organizationallyUniqueIdentifier & 0xFF_FFFF
    }

    /// Creates the System ID of a Bluetooth device address: its company, 0xFFFE and the number that the company
    /// assigned.
    ///
    /// `address`: The address in the low 48 bits: 0x123456_9ABCDE for `12:34:56:9A:BC:DE`.
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

        /// The value in words.
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

    /// Creates a product.
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
    /// - Throws: ``GATTValueError`` if the source is reserved.
    public init(from reader: inout GATTReader) throws(GATTValueError) {
        source = try reader.value("Vendor ID Source")
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

/// UDI for Medical Devices (2BFF): the unique device identifier of a medical device, by the rules of its country.
///
/// Source: Device Information Service 1.2, 3.10; GATT Specification Supplement, UDI for Medical Devices.
public struct UniqueDeviceIdentifier: GATTValue, CustomStringConvertible {
    /// The whole identifier, as on the label.
    public let label: String?
    /// The part that identifies the manufacturer and the model.
    public let deviceIdentifier: String?
    /// The organization that issued the identifier, by its object identifier or its address.
    public let issuer: String?
    /// The authority whose rules the identifier follows, by its object identifier or its address.
    public let authority: String?

    /// Creates an identifier; a text ends before its first zero.
    public init(
        label: String? = nil, deviceIdentifier: String? = nil, issuer: String? = nil, authority: String? = nil
    ) {
        func beforeZero(_ text: String?) -> String? {
            text.map { String(String.UnicodeScalarView($0.unicodeScalars.prefix { $0.value != 0 })) }
        }
        self.label = beforeZero(label)
        self.deviceIdentifier = beforeZero(deviceIdentifier)
        self.issuer = beforeZero(issuer)
        self.authority = beforeZero(authority)
    }

    /// "UDI for Medical Devices".
    public static var valueName: String { "UDI for Medical Devices" }
    /// True, because later bytes belong to a later version.
    public static var ignoresTrailingBytes: Bool { true }

    /// Reads a byte of flags, and the texts that they announce, each with a zero at its end.
    ///
    /// - Throws: ``GATTValueError``, also if a text is not UTF-8.
    public init(from reader: inout GATTReader) throws(GATTValueError) {
        let flags = try reader.uint8("Flags")
        label = try flags & 1 != 0 ? reader.terminatedText("UDI Label") : nil
        deviceIdentifier = try flags & 2 != 0 ? reader.terminatedText("UDI Device Identifier") : nil
        issuer = try flags & 4 != 0 ? reader.terminatedText("UDI Issuer") : nil
        authority = try flags & 8 != 0 ? reader.terminatedText("UDI Authority") : nil
    }

    /// Writes the flags and the texts.
    public func write(to writer: inout GATTWriter) {
        let texts = [label, deviceIdentifier, issuer, authority]
        writer.append(texts.enumerated().reduce(UInt8(0)) { $1.element == nil ? $0 : $0 | 1 << $1.offset })
        for text in texts.compactMap({ $0 }) {
            writer.append(text: text)
            writer.append(UInt8(0))
        }
    }

    /// `label (01)0123, device 0123, issuer 2.16.840, authority 2.16.841`.
    public var description: String {
        let parts = [
            label.map { "label \($0)" }, deviceIdentifier.map { "device \($0)" }, issuer.map { "issuer \($0)" },
            authority.map { "authority \($0)" },
        ].compactMap { $0 }
        return parts.isEmpty ? "nothing" : parts.joined(separator: ", ")
    }
}

/// A manufacturer's description of its device; each value is optional.
///
/// Source: Device Information Service 1.2, 3.
public struct DeviceInformationValues: Hashable, Sendable {
    /// The manufacturer's name.
    public var manufacturer: String?
    /// The model.
    public var model: String?
    /// The serial number.
    public var serialNumber: String?
    /// The revision of the hardware.
    public var hardwareRevision: String?
    /// The revision of the firmware.
    public var firmwareRevision: String?
    /// The revision of the software.
    public var softwareRevision: String?
    /// The unique number of the system.
    public var systemID: SystemID?
    /// The IEEE 11073-20601 regulatory certification data list.
    public var regulatoryCertification: Data?
    /// The vendor, the product and its version.
    public var pnpID: PnPID?
    /// The identifier of a medical device.
    public var uniqueDeviceIdentifier: UniqueDeviceIdentifier?

    /// Creates the manufacturer's information.
    public init(
        manufacturer: String? = nil, model: String? = nil, serialNumber: String? = nil,
        hardwareRevision: String? = nil, firmwareRevision: String? = nil, softwareRevision: String? = nil,
        systemID: SystemID? = nil, regulatoryCertification: Data? = nil, pnpID: PnPID? = nil,
        uniqueDeviceIdentifier: UniqueDeviceIdentifier? = nil
    ) {
        self.manufacturer = manufacturer
        self.model = model
        self.serialNumber = serialNumber
        self.hardwareRevision = hardwareRevision
        self.firmwareRevision = firmwareRevision
        self.softwareRevision = softwareRevision
        self.systemID = systemID
        self.regulatoryCertification = regulatoryCertification
        self.pnpID = pnpID
        self.uniqueDeviceIdentifier = uniqueDeviceIdentifier
    }
}
