import BluetoothSupport

/// A date and a time of day without a zone, as Bluetooth's Date Time has it.
///
/// Source: GATT Specification Supplement, 3.71 Date Time.
struct DateTime: Hashable, Sendable {
    var year: Int
    var month: Int
    var day: Int
    var hours: Int
    var minutes: Int
    var seconds: Int

    /// The time so many seconds after the beginning of 1970, in the Gregorian calendar.
    init(secondsSince1970 total: Int) {
        let days = (total >= 0 ? total : total - 86_399) / 86_400
        let rest = total - days * 86_400
        (hours, minutes, seconds) = (rest / 3600, rest / 60 % 60, rest % 60)
        // Counted from 1 March of year 0, in eras of 400 years.
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let ofEra = shifted - era * 146_097
        let yearOfEra = (ofEra - ofEra / 1460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let dayOfYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let position = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * position + 2) / 5 + 1
        month = position < 10 ? position + 3 : position - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// Reads seven bytes; nil where they are no date.
    init?(_ data: Data) {
        let bytes = [UInt8](data)
        guard bytes.count == 7, let year: UInt16 = data.littleEndian(at: 0), (1582...9999).contains(year) else {
            return nil
        }
        (self.year, month, day) = (Int(year), Int(bytes[2]), Int(bytes[3]))
        (hours, minutes, seconds) = (Int(bytes[4]), Int(bytes[5]), Int(bytes[6]))
        guard (1...12).contains(month), hours < 24, minutes < 60, seconds < 60,
            DateTime(secondsSince1970: secondsSince1970) == self
        else { return nil }
    }

    /// The seconds since the beginning of 1970.
    var secondsSince1970: Int {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return ((era * 146_097 + dayOfEra - 719_468) * 24 + hours) * 3600 + minutes * 60 + seconds
    }

    /// 1 is Monday, 7 is Sunday.
    var dayOfWeek: UInt8 {
        let days = (secondsSince1970 - (hours * 3600 + minutes * 60 + seconds)) / 86_400
        // 1 January 1970 was a Thursday.
        return UInt8(((days + 3) % 7 + 7) % 7 + 1)
    }

    /// Year, month, day, hours, minutes, seconds.
    var data: Data {
        Data(littleEndian: UInt16(clamping: year)) + [month, day, hours, minutes, seconds].map { UInt8(clamping: $0) }
    }
}
