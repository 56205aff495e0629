import Foundation

/// Appearance (2A01): what the device is, by category.
///
/// Source: Assigned Numbers, section 2.6; the first 64 categories, of 64 values each.
struct Appearance: StandardValue, Equatable {
    private static let categories: [UInt16: String] = [
        0: "unknown", 1: "phone", 2: "computer", 3: "watch", 4: "clock", 5: "display", 6: "remote control",
        7: "eyeglasses", 8: "tag", 9: "keyring", 10: "media player", 11: "barcode scanner", 12: "thermometer",
        13: "heart rate sensor", 14: "blood pressure monitor", 15: "human interface device", 16: "glucose meter",
        17: "running walking sensor", 18: "cycling sensor", 19: "control device", 20: "network device", 21: "sensor",
        22: "light fixture", 23: "fan", 24: "HVAC", 49: "pulse oximeter", 50: "weight scale",
    ]

    /// The raw value.
    let rawValue: UInt16

    init?(_ data: Data) {
        var reader = ByteReader(data)
        guard let raw = reader.uint16(), reader.count == 0 else { return nil }
        rawValue = raw
    }

    var text: String {
        let number = "0x" + Decimals.hex(rawValue, width: 4)
        return Self.categories[rawValue >> 6].map { "\($0) (\(number))" } ?? number
    }
}
