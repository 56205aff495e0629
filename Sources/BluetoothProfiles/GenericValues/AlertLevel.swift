/// Alert Level (2A06).
///
/// Source: GATT Specification Supplement, Alert Level.
public enum AlertLevel: UInt8, GATTValue, CaseIterable, CustomStringConvertible {
    /// Silence.
    case none = 0
    /// A mild alert.
    case mild
    /// A high alert.
    case high

    /// In words.
    public var description: String {
        switch self {
        case .none: "no alert"
        case .mild: "mild alert"
        case .high: "high alert"
        }
    }
}
