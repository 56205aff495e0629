/// Date Time (2A08): a date of the Gregorian calendar and a time of day, without a time zone.
///
/// The year, the month and the day may each be unknown: 0. Source: GATT Specification Supplement, Date Time.
public struct DateTime: GATTValue, CustomStringConvertible {
    /// The year, 1582...9999; 0 means unknown.
    public let year: UInt16
    /// The month, 1...12; 0 means unknown.
    public let month: UInt8
    /// The day, 1...31; 0 means unknown.
    public let day: UInt8
    /// The hours, 0...23.
    public let hours: UInt8
    /// The minutes, 0...59.
    public let minutes: UInt8
    /// The seconds, 0...59.
    public let seconds: UInt8

    /// Creates a date and a time of day.
    ///
    /// - Returns: nil if a part is out of range. Whether the month has that day is not checked.
    public init?(year: Int, month: Int, day: Int, hours: Int, minutes: Int, seconds: Int) {
        guard year == 0 || (1582...9999).contains(year), (0...12).contains(month), (0...31).contains(day),
            (0...23).contains(hours), (0...59).contains(minutes), (0...59).contains(seconds)
        else { return nil }
        (self.year, self.month, self.day) = (UInt16(year), UInt8(month), UInt8(day))
        (self.hours, self.minutes, self.seconds) = (UInt8(hours), UInt8(minutes), UInt8(seconds))
    }

    /// Creates the date and the time of day in UTC, without the fraction of the second.
    ///
    /// - Returns: nil outside the years 1582...9999.
    public init?(_ date: Date) {
        let total = date.timeIntervalSince1970.rounded(.down)
        guard let seconds = Int(exactly: total), Self.range.contains(seconds) else { return nil }
        self.init(secondsSince1970: seconds)
    }

    /// Creates the date and the time of day in UTC, or the nearest ones in the years 1582...9999.
    package init(clamping date: Date) {
        let total = max(Double(Self.range.lowerBound), min(Double(Self.range.upperBound), date.timeIntervalSince1970))
        self.init(secondsSince1970: Int(total.rounded(.down)))
    }

    private init(secondsSince1970 total: Int) {
        let days = (total >= 0 ? total : total - 86_399) / 86_400
        let seconds = total - days * 86_400
        let date = Self.civil(days: days)
        (year, month, day) = (UInt16(date.year), UInt8(date.month), UInt8(date.day))
        (hours, minutes) = (UInt8(seconds / 3600), UInt8(seconds / 60 % 60))
        self.seconds = UInt8(seconds % 60)
    }

    /// The seconds since 1970 of the years 1582...9999.
    private static let range = -12_244_089_600...253_402_300_799

    /// The instant, taken as UTC; nil if a part is unknown or the month has no such day.
    public var date: Date? {
        let days = Self.days(year: Int(year), month: Int(month), day: Int(day))
        guard year > 0, month > 0, day > 0, Self.civil(days: days) == (Int(year), Int(month), Int(day)) else {
            return nil
        }
        return Date(
            timeIntervalSince1970: Double(((days * 24 + Int(hours)) * 60 + Int(minutes)) * 60 + Int(seconds)))
    }

    /// Reads seven bytes.
    ///
    /// - Throws: ``GATTValueError`` for a part that is out of range.
    public init(from reader: inout GATTReader) throws(GATTValueError) {
        year = try reader.uint16("Year")
        guard year == 0 || (1582...9999).contains(year) else { throw reader.reserved(year, "Year") }
        month = try reader.uint8("Month", in: 0...12)
        day = try reader.uint8("Day", in: 0...31)
        hours = try reader.uint8("Hours", in: 0...23)
        minutes = try reader.uint8("Minutes", in: 0...59)
        seconds = try reader.uint8("Seconds", in: 0...59)
    }

    /// Writes seven bytes.
    public func write(to writer: inout GATTWriter) {
        writer.append(year)
        for part in [month, day, hours, minutes, seconds] { writer.append(part, bytes: 1) }
    }

    /// `2024-02-29 09:05:07`.
    public var description: String {
        let digits = String(year)
        let date = [
            String(repeating: "0", count: max(0, 4 - digits.count)) + digits, Decimals.pair(month), Decimals.pair(day),
        ]
        return date.joined(separator: "-") + " "
            + [hours, minutes, seconds].map { Decimals.pair($0) }.joined(separator: ":")
    }

    /// Returns the days since the beginning of 1970; counted from 1 March of year 0, in eras of 400 years.
    package static func days(year: Int, month: Int, day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// Returns the date that is a number of days after the beginning of 1970.
    private static func civil(days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let ofEra = shifted - era * 146_097
        let yearOfEra = (ofEra - ofEra / 1460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let dayOfYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let position = (5 * dayOfYear + 2) / 153
        let month = position < 10 ? position + 3 : position - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * position + 2) / 5 + 1)
    }
}
