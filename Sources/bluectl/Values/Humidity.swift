import Foundation

/// Humidity (2A6F): units of 0.01 %.
struct Humidity: StandardValue, Equatable {
    let text: String

    init?(_ data: Data) {
        var reader = ByteReader(data)
        guard let raw = reader.uint16(), raw <= 10_000, reader.count == 0 else { return nil }
        text = Decimals.fixed(Double(raw) / 100, 2) + " %"
    }
}
