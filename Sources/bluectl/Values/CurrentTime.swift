import Foundation

/// Current Time (2A2B).
struct CurrentTime: StandardValue, Equatable {
    private static let weekdays = [
        nil, "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
    ]

    let text: String

    init?(_ data: Data) {
        var reader = ByteReader(data)
        guard let dateTime = DateTime(&reader), let weekday = reader.uint8(), reader.uint8() != nil,
            reader.uint8() != nil, reader.count == 0, Self.weekdays.indices.contains(Int(weekday))
        else { return nil }
        text = [Self.weekdays[Int(weekday)], dateTime.text].compactMap { $0 }.joined(separator: " ")
    }
}
