import Foundation

/// Temperature Measurement (2A1C) and Intermediate Temperature (2A1E).
struct TemperatureMeasurement: StandardValue, Equatable {
    let text: String

    init?(_ data: Data) {
        var reader = ByteReader(data)
        guard let flags = reader.uint8(), let degrees = reader.medicalFloat() else { return nil }
        var parts = [Decimals.fixed(degrees, 2) + (flags & 0x01 == 0 ? " °C" : " °F")]
        if flags & 0x02 != 0 {
            guard let time = DateTime(&reader) else { return nil }
            parts.append(time.text)
        }
        if flags & 0x04 != 0 {
            guard let raw = reader.uint8() else { return nil }
            parts.append(TemperatureType(rawValue: raw)?.text ?? "place \(raw)")
        }
        guard reader.count == 0 else { return nil }
        text = parts.joined(separator: ", ")
    }
}
