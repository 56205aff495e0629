/// Current Time (2A2B): the local time, to 1/256 s, and why it was adjusted.
///
/// Source: Current Time Service 1.1, 3.1; GATT Specification Supplement, Current Time and Exact Time 256.
public struct CurrentTime: GATTValue, CustomStringConvertible {
    /// Why the time was adjusted; unknown bits are kept.
    public struct AdjustReason: OptionSet, GATTValue {
        /// The bits.
        public let rawValue: UInt8
        /// A set from its bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        /// Somebody set the clock.
        public static let manual = AdjustReason(rawValue: 1)
        /// Another clock did.
        public static let externalReference = AdjustReason(rawValue: 2)
        /// The time zone changed.
        public static let timeZone = AdjustReason(rawValue: 4)
        /// Daylight saving time began or ended.
        public static let daylightSaving = AdjustReason(rawValue: 8)
    }

    /// The local date and time of day.
    public var dateTime: DateTime
    /// The day of the week.
    public var dayOfWeek: DayOfWeek
    /// The fraction of the second, in units of 1/256 s.
    public var fractions256: UInt8
    /// Why the time was adjusted; empty where it was read.
    public var adjustReason: AdjustReason

    /// A time; the day of the week follows from the date by default.
    public init(
        _ dateTime: DateTime, dayOfWeek: DayOfWeek? = nil, fractions256: UInt8 = 0, adjustReason: AdjustReason = []
    ) {
        self.dateTime = dateTime
        self.dayOfWeek = dayOfWeek ?? DayOfWeek(of: dateTime)
        self.fractions256 = fractions256
        self.adjustReason = adjustReason
    }

    /// Reads ten bytes.
    public init(from reader: inout GATTReader) throws(GATTValueError) {
        dateTime = try DateTime(from: &reader)
        dayOfWeek = try DayOfWeek(from: &reader)
        fractions256 = try reader.uint8("Fractions256")
        adjustReason = try AdjustReason(from: &reader)
    }

    /// Writes ten bytes.
    public func write(to writer: inout GATTWriter) {
        writer.append(dateTime)
        writer.append(dayOfWeek)
        writer.append(fractions256)
        writer.append(adjustReason)
    }

    /// `Thursday 2024-02-29 09:05:07`.
    public var description: String { dayOfWeek == .unknown ? "\(dateTime)" : "\(dayOfWeek) \(dateTime)" }
}
