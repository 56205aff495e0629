/// Environmental Sensing Configuration (290B): how the trigger settings of a characteristic go together.
///
/// Source: Environmental Sensing Service 1.0, 3.1.2.3; GATT Specification Supplement.
public enum ESConfiguration: UInt8, GATTValue, CaseIterable, CustomStringConvertible {
    /// The value is notified when all conditions hold.
    case all = 0
    /// The value is notified when one of the conditions holds.
    case any = 1

    /// "ES Configuration".
    public static var valueName: String { "ES Configuration" }

    /// In words.
    public var description: String { self == .all ? "all conditions" : "any condition" }
}
