/// Current Time (2A2B): the local time, to 1/256 s, and the reason for its adjustment.
///
/// Source: Current Time Service 1.1, 3.1; GATT Specification Supplement, Current Time and Exact Time 256.
public struct CurrentTime: GATTValue, CustomStringConvertible {
    /// The reasons for the adjustment of the time; unknown bits are preserved.
    public struct AdjustReason: OptionSet, GATTValue {
        /// The bits.
        public let rawValue: UInt8
        /// Creates a set from its bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        /// A person set the clock.
        public static let manual = AdjustReason(rawValue: 1)
        /// Another clock set the clock.
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
    /// The reasons for the adjustment of the time; empty for a time that was read.
    public var adjustReason: AdjustReason

    /// Creates a time; the day of the week follows from the date by default.
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

/// Day of Week (2A09).
///
/// Source: GATT Specification Supplement, Day of Week.
public enum DayOfWeek: UInt8, GATTValue, CaseIterable, CustomStringConvertible {
    /// The day is not known.
    case unknown = 0
    /// The first day, as in ISO 8601.
    case monday
    /// The second day.
    case tuesday
    /// The third day.
    case wednesday
    /// The fourth day.
    case thursday
    /// The fifth day.
    case friday
    /// The sixth day.
    case saturday
    /// The last day.
    case sunday

    /// Finds the day of a date; unknown if the date is unknown.
    public init(of date: DateTime) {
        guard date.date != nil else {
            self = .unknown
            return
        }
        let days = DateTime.days(year: Int(date.year), month: Int(date.month), day: Int(date.day))
        // 1 January 1970 was a Thursday.
        self = Self(rawValue: UInt8(((days + 3) % 7 + 7) % 7 + 1)) ?? .unknown
    }

    private static let names = [
        "not known", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
    ]

    /// The English name of the day.
    public var description: String { Self.names[Int(rawValue)] }
}

/// Local Time Information (2A0F): the difference of the local time from UTC.
///
/// Source: Current Time Service 1.1, 3.2; GATT Specification Supplement, Time Zone and DST Offset.
public struct LocalTimeInformation: GATTValue, CustomStringConvertible {
    /// Daylight saving time.
    public enum DaylightSaving: UInt8, GATTValue, CaseIterable {
        /// Standard time.
        case standard = 0
        /// Half an hour.
        case halfHour = 2
        /// An hour.
        case hour = 4
        /// Two hours.
        case doubleHour = 8
        /// The daylight saving time is not known.
        case unknown = 255
    }

    private static let unknownZone: Int8 = -128

    /// Quarters of an hour east of UTC, -48...56; nil if unknown.
    public let timeZone: Int8?
    /// Daylight saving time, which is added to the time zone.
    public let daylightSaving: DaylightSaving

    /// The time zone of UTC, without daylight saving time.
    public static let utc = LocalTimeInformation(checkedZone: 0)

    private init(checkedZone: Int8) {
        timeZone = checkedZone
        daylightSaving = .standard
    }

    /// Creates an offset from UTC.
    ///
    /// `timeZone`: Quarters of an hour, -48...56; nil if unknown.
    /// - Throws: ``GATTValueError`` if the time zone is out of range.
    public init(timeZone: Int?, daylightSaving: DaylightSaving = .standard) throws(GATTValueError) {
        self.timeZone = try Self.checked(timeZone, "Time Zone", in: Int8(-48)...56)
        self.daylightSaving = daylightSaving
    }

    /// The total offset from UTC; nil if unknown.
    public var offset: Duration? {
        guard let timeZone, daylightSaving != .unknown else { return nil }
        return .seconds(900 * (Int(timeZone) + Int(daylightSaving.rawValue)))
    }

    /// Reads two bytes.
    public init(from reader: inout GATTReader) throws(GATTValueError) {
        let zone: Int8 = try reader.integer("Time Zone")
        guard (-48...56).contains(zone) || zone == Self.unknownZone else { throw reader.reserved(zone, "Time Zone") }
        timeZone = zone == Self.unknownZone ? nil : zone
        daylightSaving = try reader.value("DST Offset")
    }

    /// Writes two bytes.
    public func write(to writer: inout GATTWriter) {
        writer.append(timeZone ?? Self.unknownZone)
        writer.append(daylightSaving)
    }

    /// `UTC+1:00, daylight saving 1:00`.
    public var description: String {
        let zone = timeZone.map { "UTC" + ($0 < 0 ? "-" : "+") + Self.hours(Int($0.magnitude)) } ?? "zone not known"
        switch daylightSaving {
        case .standard: return zone
        case .unknown: return zone + ", daylight saving not known"
        default: return zone + ", daylight saving " + Self.hours(Int(daylightSaving.rawValue))
        }
    }

    private static func hours(_ quarters: Int) -> String { "\(quarters / 4):" + Decimals.pair(quarters % 4 * 15) }
}

/// Reference Time Information (2A14): the source of the time, and its accuracy.
///
/// Source: Current Time Service 1.1, 3.3; GATT Specification Supplement, Reference Time Information.
public struct ReferenceTimeInformation: GATTValue, CustomStringConvertible {
    /// Time Source (2A13).
    public enum Source: UInt8, GATTValue, CaseIterable, CustomStringConvertible {
        /// The source is not known.
        case unknown = 0
        /// The Network Time Protocol.
        case networkTimeProtocol
        /// A satellite system.
        case satellite
        /// A radio time signal.
        case radioTimeSignal
        /// A person set it.
        case manual
        /// An atomic clock.
        case atomicClock
        /// A cellular network.
        case cellularNetwork
        /// The clock is not synchronized.
        case notSynchronized

        private static let names = [
            "unknown source", "Network Time Protocol", "satellite", "radio time signal", "manual", "atomic clock",
            "cellular network", "not synchronized",
        ]

        /// The value in words.
        public var description: String { Self.names[Int(rawValue)] }
    }

    /// The source of the time.
    public let source: Source
    /// The drift since the last update, in steps of 1/8 s; 254 means more than 253 steps, 255 unknown.
    public let accuracy: UInt8
    /// Whole days since the last update; 255 means 255 or more.
    public let daysSinceUpdate: UInt8
    /// Hours since the last update beyond the days, 0...23; 255 if the days are 255.
    public let hoursSinceUpdate: UInt8

    /// Creates a source with the hours since its last update.
    ///
    /// `hoursSinceUpdate`: All hours since then, 0 or more.
    /// - Throws: ``GATTValueError`` if the hours are negative.
    public init(source: Source, accuracy: UInt8 = 255, hoursSinceUpdate: Int) throws(GATTValueError) {
        let hours = try Self.checked(hoursSinceUpdate, "Hours Since Update", in: 0...Int.max)
        self.init(source, accuracy: accuracy, wholeHours: hours)
    }

    /// Creates a source with the time since its last update, 0 or more.
    package init(source: Source, accuracy: UInt8 = 255, sinceUpdate: Duration) {
        self.init(source, accuracy: accuracy, wholeHours: max(0, Int(sinceUpdate.components.seconds / 3600)))
    }

    private init(_ source: Source, accuracy: UInt8, wholeHours hoursSinceUpdate: Int) {
        self.source = source
        self.accuracy = accuracy
        let isLong = hoursSinceUpdate >= 255 * 24
        daysSinceUpdate = isLong ? 255 : UInt8(hoursSinceUpdate / 24)
        self.hoursSinceUpdate = isLong ? 255 : UInt8(hoursSinceUpdate % 24)
    }

    /// Reads four bytes.
    ///
    /// - Throws: ``GATTValueError``, also if the hours are not 0...23 or 255.
    public init(from reader: inout GATTReader) throws(GATTValueError) {
        source = try reader.value("Time Source")
        accuracy = try reader.uint8("Time Accuracy")
        daysSinceUpdate = try reader.uint8("Days Since Update")
        hoursSinceUpdate = try reader.uint8("Hours Since Update")
        guard hoursSinceUpdate < 24 || hoursSinceUpdate == 255 else {
            throw reader.reserved(hoursSinceUpdate, "Hours Since Update")
        }
    }

    /// Writes four bytes.
    public func write(to writer: inout GATTWriter) {
        writer.append(source)
        for part in [accuracy, daysSinceUpdate, hoursSinceUpdate] { writer.append(part, bytes: 1) }
    }

    /// `Network Time Protocol, updated 1 d 2 h ago`.
    public var description: String {
        daysSinceUpdate == 255
            ? "\(source), updated long ago" : "\(source), updated \(daysSinceUpdate) d \(hoursSinceUpdate) h ago"
    }
}
