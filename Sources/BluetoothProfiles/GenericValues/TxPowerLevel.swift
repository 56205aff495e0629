/// Tx Power Level (2A07): the power of the radio in dBm.
///
/// Source: GATT Specification Supplement, Tx Power Level.
public struct TxPowerLevel: ScalarValue {
    /// dBm.
    public static var unit: String { "dBm" }
    /// Whole numbers.
    public static var stepsPerUnit: Int { 1 }
    /// -100...20 dBm.
    public static var range: ClosedRange<Int8> { -100...20 }
    /// In dBm.
    public let rawNumber: Int8
    /// A power in dBm.
    public init(uncheckedRawNumber rawNumber: Int8) { self.rawNumber = rawNumber }
}
