import Foundation

/// Date Time (2A08): a calendar date and a time of day, in no time zone.
struct DateTime: StandardValue, Equatable {
    let text: String

    init?(_ data: Data) {
        var reader = ByteReader(data)
        self.init(&reader)
        guard reader.count == 0 else { return nil }
    }

    /// Takes the seven bytes off a longer value.
    init?(_ reader: inout ByteReader) {
        guard let year = reader.uint16(), let month = reader.uint8(), let day = reader.uint8(),
            let hour = reader.uint8(), let minute = reader.uint8(), let second = reader.uint8(),
            month <= 12, day <= 31, hour < 24, minute < 60, second < 60
        else { return nil }
        let digits = String(year)
        let date = [
            String(repeating: "0", count: max(0, 4 - digits.count)) + digits, Decimals.pair(month), Decimals.pair(day),
        ]
        text =
            date.joined(separator: "-") + " "
            + [hour, minute, second].map { Decimals.pair($0) }.joined(separator: ":")
    }
}
