import Foundation

/// A record with the time of its line.
struct TimedRecord<Record: Encodable>: Encodable {
    private let time = TimeText.now
    private let record: Record

    private enum CodingKeys: String, CodingKey { case time }

    init(_ record: Record) { self.record = record }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(time, forKey: .time)
        // A record that has a time of its own keeps it.
        try record.encode(to: encoder)
    }
}

/// Times as results bear them.
enum TimeText {
    /// ISO 8601 in UTC, with milliseconds.
    static func of(_ date: Date) -> String {
        date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    static var now: String { of(Date()) }
}
