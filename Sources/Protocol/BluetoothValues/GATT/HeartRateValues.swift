/// Heart Rate Measurement (2A37).
///
/// Source: Heart Rate Service 1.0, 3.1; GATT Specification Supplement, Heart Rate Measurement.
public struct HeartRateMeasurement: GATTValue, CustomStringConvertible {
    /// Beats per minute.
    public var rate: UInt16
    /// Whether the sensor touches the skin; nil if the sensor does not detect it.
    public var hasContact: Bool?
    /// The energy expended since the last reset, in kilojoules; 65,535 means that or more.
    ///
    /// Not every measurement contains it.
    public var energyExpended: UInt16?
    /// The intervals between beats since the last measurement, the oldest first, in units of 1/1024 s.
    public var intervals: [UInt16]

    /// Creates a measurement.
    public init(rate: UInt16, hasContact: Bool? = nil, energyExpended: UInt16? = nil, intervals: [UInt16] = []) {
        self.rate = rate
        self.hasContact = hasContact
        self.energyExpended = energyExpended
        self.intervals = intervals
    }

    /// The intervals between beats as durations, which are exact.
    public var intervalDurations: [Duration] {
        intervals.map { Duration(secondsComponent: 0, attosecondsComponent: 976_562_500_000_000) * Int($0) }
    }

    /// True, because a client ignores unknown flags and the fields after them.
    public static var ignoresTrailingBytes: Bool { true }

    private enum Flag {
        static let wideRate: UInt8 = 0x01
        static let contact: UInt8 = 0x02
        static let contactSupported: UInt8 = 0x04
        static let energy: UInt8 = 0x08
        static let intervals: UInt8 = 0x10
    }

    /// Reads the flags and the fields that they announce.
    public init(from reader: inout GATTReader) throws(GATTValueError) {
        let flags = try reader.uint8("Flags")
        let field = "Heart Rate Measurement Value"
        rate = flags & Flag.wideRate == 0 ? UInt16(try reader.uint8(field)) : try reader.uint16(field)
        hasContact = flags & Flag.contactSupported == 0 ? nil : flags & Flag.contact != 0
        energyExpended = flags & Flag.energy == 0 ? nil : try reader.uint16("Energy Expended")
        intervals = []
        guard flags & Flag.intervals != 0 else { return }
        while reader.count > 0 { intervals.append(try reader.uint16("RR-Interval")) }
    }

    /// Writes the flags and the present fields, the rate in one byte if it fits.
    public func write(to writer: inout GATTWriter) {
        var flags: UInt8 = rate > 255 ? Flag.wideRate : 0
        if let hasContact { flags |= Flag.contactSupported | (hasContact ? Flag.contact : 0) }
        if energyExpended != nil { flags |= Flag.energy }
        if !intervals.isEmpty { flags |= Flag.intervals }
        writer.append(flags)
        if rate > 255 { writer.append(rate) } else { writer.append(UInt8(rate)) }
        if let energyExpended { writer.append(energyExpended) }
        for interval in intervals { writer.append(interval) }
    }

    /// `72 bpm, skin contact, 10 kJ, RR 1.000 0.850 s`.
    public var description: String {
        var parts = ["\(rate) bpm"]
        if let hasContact { parts.append(hasContact ? "skin contact" : "no skin contact") }
        if let energyExpended { parts.append("\(energyExpended) kJ") }
        if !intervals.isEmpty {
            let seconds = intervals.map { Decimals.fixed(Double($0) / 1024, 3) }
            parts.append("RR " + seconds.joined(separator: " ") + " s")
        }
        return parts.joined(separator: ", ")
    }
}

/// Body Sensor Location (2A38).
///
/// Source: Heart Rate Service 1.0, 3.2; GATT Specification Supplement, Body Sensor Location.
public enum BodySensorLocation: UInt8, GATTValue, CaseIterable, CustomStringConvertible {
    /// A location other than those below.
    case other = 0
    /// The chest.
    case chest
    /// A wrist.
    case wrist
    /// A finger.
    case finger
    /// A hand.
    case hand
    /// An ear lobe.
    case earLobe
    /// A foot.
    case foot

    private static let names = ["other", "chest", "wrist", "finger", "hand", "ear lobe", "foot"]

    /// The value in words.
    public var description: String { Self.names[Int(rawValue)] }
}

/// Heart Rate Control Point (2A39): a request to the sensor.
///
/// A sensor refuses other requests with ATT error 0x80. Source: Heart Rate Service 1.0, 3.3.
public enum HeartRateControlPoint: UInt8, GATTValue, CaseIterable, CustomStringConvertible {
    /// Resets the energy expended to 0.
    case resetEnergyExpended = 1

    /// The value in words.
    public var description: String { "reset energy expended" }
}
