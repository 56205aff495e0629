/// Local Time Information (2A0F): how the local time differs from UTC.
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
        /// Not known.
        case unknown = 255
    }

    private static let unknownZone: Int8 = -128

    /// Quarters of an hour east of UTC, -48...56; nil where it is not known.
    public let timeZone: Int8?
    /// Daylight saving time, which comes to the time zone.
    public let daylightSaving: DaylightSaving

    /// The time zone of UTC, without daylight saving time.
    public static let utc = LocalTimeInformation(checkedZone: 0)

    private init(checkedZone: Int8) {
        timeZone = checkedZone
        daylightSaving = .standard
    }

    /// What is added to UTC.
    ///
    /// `timeZone`: Quarters of an hour, -48...56; nil where it is not known.
    /// - Throws: That the time zone is out of its range.
    public init(timeZone: Int?, daylightSaving: DaylightSaving = .standard) throws(GATTValueError) {
        if let timeZone {
            self.timeZone = try Self.checked(timeZone, "Time Zone", in: Int8(-48)...56)
        } else {
            self.timeZone = nil
        }
        self.daylightSaving = daylightSaving
    }

    /// What is added to UTC in all; nil where it is not known.
    public var offset: Duration? {
        guard let timeZone, daylightSaving != .unknown else { return nil }
        return .seconds(900 * (Int(timeZone) + Int(daylightSaving.rawValue)))
    }

    /// Reads two bytes.
    public init(from reader: inout GATTReader) throws(GATTValueError) {
        let zone: Int8 = try reader.integer("Time Zone")
        guard (-48...56).contains(zone) || zone == Self.unknownZone else { throw reader.reserved(zone, "Time Zone") }
        timeZone = zone == Self.unknownZone ? nil : zone
        let raw = try reader.uint8("DST Offset")
        guard let saving = DaylightSaving(rawValue: raw) else { throw reader.reserved(raw, "DST Offset") }
        daylightSaving = saving
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
