extension Duration {
    /// The rule of ``init(text:)``, for messages.
    package static let textRule = "a time is a number and a unit: us, ms, s, min or h, as in \"100 ms\""

    private static let units: [(name: String, nanoseconds: Int64)] = [
        ("h", 3_600_000_000_000), ("min", 60_000_000_000), ("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000),
    ]

    /// Reads a number and a unit: `100 ms`.
    ///
    /// - Returns: nil for anything else, and for a time of 31 years or more.
    package init?(text: String) {
        let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let unit = text.dropFirst(digits.count).drop { $0 == " " }
        guard let factor = Self.units.first(where: { $0.name == unit })?.nanoseconds, let number = Double(digits),
            number * Double(factor) < 1e18
        else { return nil }
        self = .nanoseconds(Int64((number * Double(factor)).rounded()))
    }

    /// The exact duration, up to 73 years, in the largest unit in which it is an integer, or else in microseconds.
    package var text: String {
        let nanoseconds = nanoseconds
        guard let unit = Self.units.first(where: { nanoseconds != 0 && nanoseconds % $0.nanoseconds == 0 }) else {
            return "\(Double(nanoseconds) / 1000) us"
        }
        return "\(nanoseconds / unit.nanoseconds) \(unit.name)"
    }
}
