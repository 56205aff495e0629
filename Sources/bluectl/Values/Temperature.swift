import Foundation

/// Temperature (2A6E): units of 0.01 °C.
struct Temperature: StandardValue, Equatable {
    let text: String

    init?(_ data: Data) {
        var reader = ByteReader(data)
        // 0x8000 is "not known".
        guard let raw = reader.int16(), raw != .min, reader.count == 0 else { return nil }
        text = Decimals.fixed(Double(raw) / 100, 2) + " °C"
    }
}
