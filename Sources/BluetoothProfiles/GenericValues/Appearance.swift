import BluetoothValues

/// Appearance (2A01): what the device is.
///
/// Source: Assigned Numbers, 2.6: ten bits of category, six of subcategory.
public struct Appearance: RawRepresentable, GATTValue, CustomStringConvertible {
    /// Category and subcategory.
    public let rawValue: UInt16

    /// An appearance by its number.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The number of the category.
    public var category: UInt16 { rawValue >> 6 }

    /// `Heart Rate Belt (0x0341)`, with the category's name where the subcategory has none; else the number alone.
    public var description: String {
        let number = "0x" + Decimals.hex(rawValue, width: 4)
        return AssignedNumbers.appearance(rawValue).map { "\($0) (\(number))" } ?? number
    }
}
