import Foundation

/// Pressure (2A6D): units of 0.1 Pa.
struct Pressure: StandardValue, Equatable {
    let text: String

    init?(_ data: Data) {
        var reader = ByteReader(data)
        guard let raw = reader.uint32(), reader.count == 0 else { return nil }
        text = Decimals.fixed(Double(raw) / 1000, 3) + " hPa"
    }
}
