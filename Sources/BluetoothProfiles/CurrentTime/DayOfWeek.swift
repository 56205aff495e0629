/// Day of Week (2A09).
///
/// Source: GATT Specification Supplement, Day of Week.
public enum DayOfWeek: UInt8, GATTValue, CaseIterable, CustomStringConvertible {
    /// Not known.
    case unknown = 0
    /// The first day, as ISO 8601 has it.
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

    /// The day of a date, not known where the date is not.
    public init(of date: DateTime) {
        guard date.date != nil else {
            self = .unknown
            return
        }
        let days = DateTime.days(year: Int(date.year), month: Int(date.month), day: Int(date.day))
        // 1 January 1970 was a Thursday.
        self = Self(rawValue: UInt8(((days + 3) % 7 + 7) % 7 + 1)) ?? .unknown
    }

    /// Its English name.
    public var description: String {
        switch self {
        case .unknown: "not known"
        case .monday: "Monday"
        case .tuesday: "Tuesday"
        case .wednesday: "Wednesday"
        case .thursday: "Thursday"
        case .friday: "Friday"
        case .saturday: "Saturday"
        case .sunday: "Sunday"
        }
    }
}
