/// Appearance (2A01): the kind of the device.
///
/// Source: Assigned Numbers, 2.6: ten bits of category, six of subcategory.
public struct Appearance: RawRepresentable, GATTValue, CustomStringConvertible {
    /// The number: category and subcategory.
    public let rawValue: UInt16

    /// Creates an appearance from its number.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The number of the category.
    public var category: UInt16 { rawValue >> 6 }

    /// `Heart Rate Belt (0x0341)`, with the category's name if the subcategory has none; otherwise only the number.
    public var description: String {
        let number = "0x" + Decimals.hex(rawValue, width: 4)
        return AssignedNumbers.appearance(rawValue).map { "\($0) (\(number))" } ?? number
    }
}

/// Peripheral Preferred Connection Parameters (2A04).
///
/// Source: Core Specification, Vol 3, Part C, 12.3.
public struct PreferredConnectionParameters: GATTValue, CustomStringConvertible {
    /// The shortest interval, in units of 1.25 ms; 0xFFFF means unspecified.
    public var minimumInterval: UInt16
    /// The longest interval, in units of 1.25 ms; 0xFFFF means unspecified.
    public var maximumInterval: UInt16
    /// The number of connection events that the peripheral may skip.
    public var latency: UInt16
    /// The supervision timeout, in units of 10 ms; 0xFFFF means unspecified.
    public var timeout: UInt16

    /// Creates parameters.
    public init(minimumInterval: UInt16, maximumInterval: UInt16, latency: UInt16, timeout: UInt16) {
        self.minimumInterval = minimumInterval
        self.maximumInterval = maximumInterval
        self.latency = latency
        self.timeout = timeout
    }

    /// Reads eight bytes.
    public init(from reader: inout GATTReader) throws(GATTValueError) {
        minimumInterval = try reader.uint16("Minimum Connection Interval")
        maximumInterval = try reader.uint16("Maximum Connection Interval")
        latency = try reader.uint16("Peripheral Latency")
        timeout = try reader.uint16("Connection Supervision Timeout Multiplier")
    }

    /// Writes eight bytes.
    public func write(to writer: inout GATTWriter) {
        for number in [minimumInterval, maximumInterval, latency, timeout] { writer.append(number, bytes: 2) }
    }

    /// `interval 7.50 ms to 15.00 ms, latency 0, timeout 2000 ms`.
    public var description: String {
        func interval(_ raw: UInt16) -> String { raw == 0xFFFF ? "any" : Decimals.fixed(Double(raw) * 1.25, 2) + " ms" }
        let supervision = timeout == 0xFFFF ? "any" : "\(Int(timeout) * 10) ms"
        return "interval \(interval(minimumInterval)) to \(interval(maximumInterval)), latency \(latency), "
            + "timeout \(supervision)"
    }
}

/// Alert Level (2A06).
///
/// Source: GATT Specification Supplement, Alert Level.
public enum AlertLevel: UInt8, GATTValue, CaseIterable, CustomStringConvertible {
    /// No alert.
    case none = 0
    /// A mild alert.
    case mild
    /// A high alert.
    case high

    /// The value in words.
    public var description: String { ["no alert", "mild alert", "high alert"][Int(rawValue)] }
}

/// Tx Power Level (2A07): the transmit power in dBm.
///
/// Source: GATT Specification Supplement, Tx Power Level.
public struct TxPowerLevel: ScalarValue {
    /// `sint8` in whole numbers, -100 to 20 dBm.
    public static var layout: ScalarLayout<Int8> { ScalarLayout(unit: "dBm", range: -100...20) }
    /// The power in dBm.
    public let rawNumber: Int8
    /// Creates a power in dBm.
    public init(uncheckedRawNumber rawNumber: Int8) { self.rawNumber = rawNumber }
}

/// Client Characteristic Configuration (2902): the subscriptions of a client.
///
/// Source: Core Specification, Vol 3, Part G, 3.3.3.3.
public struct ClientConfiguration: OptionSet, GATTValue, CustomStringConvertible {
    /// The bits; reserved ones are preserved.
    public let rawValue: UInt16
    /// Creates a set from its bits.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The server sends values without confirmation.
    public static let notifications = ClientConfiguration(rawValue: 1)
    /// The server sends values that the client confirms.
    public static let indications = ClientConfiguration(rawValue: 2)

    /// `notifications and indications`.
    public var description: String {
        let parts = [contains(.notifications) ? "notifications" : nil, contains(.indications) ? "indications" : nil]
        let names = parts.compactMap { $0 }
        return names.isEmpty ? "off" : names.joined(separator: " and ")
    }
}

/// Characteristic Presentation Format (2904): the format of a characteristic's value.
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
    /// The subject of the value, among several of a device.
    public var descriptionNumber: UInt16

    /// Creates a format.
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

/// Valid Range (2906): the least and the greatest value of a characteristic.
///
/// Source: GATT Specification Supplement, Valid Range.
public struct ValidRange<Bound: GATTValue>: GATTValue, CustomStringConvertible {
    /// The least value.
    public var lower: Bound
    /// The greatest value.
    public var upper: Bound

    /// Creates a range, both ends included.
    public init(lower: Bound, upper: Bound) {
        self.lower = lower
        self.upper = upper
    }

    /// Reads both ends.
    public init(from reader: inout GATTReader) throws(GATTValueError) {
        lower = try Bound(from: &reader)
        upper = try Bound(from: &reader)
    }

    /// Writes both ends.
    public func write(to writer: inout GATTWriter) {
        writer.append(lower)
        writer.append(upper)
    }

    /// `1 s to 3600 s`.
    public var description: String { "\(lower) to \(upper)" }
}
