import Foundation

extension Date {
    /// The time in UTC with milliseconds: `2026-11-25T17:56:22.651Z`.
    ///
    /// `Date.ISO8601FormatStyle` makes Foundation load ICU, which takes 3 MiB of memory.
    var iso8601: String {
        let milliseconds = Int64((timeIntervalSince1970 * 1_000).rounded())
        var seconds = time_t(milliseconds / 1_000)
        var fraction = milliseconds % 1_000
        if fraction < 0 { (seconds, fraction) = (seconds - 1, fraction + 1_000) }
        var parts = tm()
        gmtime_r(&seconds, &parts)
        func digits(_ number: some BinaryInteger, _ count: Int = 2) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
        }
        let day = "\(digits(parts.tm_year + 1_900, 4))-\(digits(parts.tm_mon + 1))-\(digits(parts.tm_mday))"
        let time = "\(digits(parts.tm_hour)):\(digits(parts.tm_min)):\(digits(parts.tm_sec)).\(digits(fraction, 3))"
        return "\(day)T\(time)Z"
    }
}
