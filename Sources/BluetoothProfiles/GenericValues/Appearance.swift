/// Appearance (2A01): what the device is.
///
/// Source: Assigned Numbers, 2.6: ten bits of category, six of subcategory.
public struct Appearance: RawRepresentable, GATTValue, CustomStringConvertible {
    private static let categories: [UInt16: String] = [
        0: "unknown", 1: "phone", 2: "computer", 3: "watch", 4: "clock", 5: "display", 6: "remote control",
        7: "eyeglasses", 8: "tag", 9: "keyring", 10: "media player", 11: "barcode scanner", 12: "thermometer",
        13: "heart rate sensor", 14: "blood pressure monitor", 15: "human interface device", 16: "glucose meter",
        17: "running walking sensor", 18: "cycling sensor", 19: "control device", 20: "network device", 21: "sensor",
        22: "light fixture", 23: "fan", 24: "HVAC", 49: "pulse oximeter", 50: "weight scale",
    ]

    /// Category and subcategory.
    public let rawValue: UInt16

    /// An appearance by its number.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The number of the category.
    public var category: UInt16 { rawValue >> 6 }

    /// `heart rate sensor (0x0341)`; the number alone for a category without a name here.
    public var description: String {
        let number = "0x" + Decimals.hex(rawValue, width: 4)
        return Self.categories[category].map { "\($0) (\(number))" } ?? number
    }
}
