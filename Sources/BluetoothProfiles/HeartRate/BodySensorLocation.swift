/// Body Sensor Location (2A38).
///
/// Source: Heart Rate Service 1.0, 3.2; GATT Specification Supplement, Body Sensor Location.
public enum BodySensorLocation: UInt8, GATTValue, CaseIterable, CustomStringConvertible {
    /// None of the others.
    case other = 0
    /// On the chest.
    case chest
    /// On a wrist.
    case wrist
    /// On a finger.
    case finger
    /// On a hand.
    case hand
    /// On an ear lobe.
    case earLobe
    /// On a foot.
    case foot

    /// In words.
    public var description: String {
        switch self {
        case .other: "other"
        case .chest: "chest"
        case .wrist: "wrist"
        case .finger: "finger"
        case .hand: "hand"
        case .earLobe: "ear lobe"
        case .foot: "foot"
        }
    }
}
