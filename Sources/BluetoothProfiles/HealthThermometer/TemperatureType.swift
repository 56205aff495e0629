/// Temperature Type (2A1D): where on the body the temperature is measured.
///
/// Source: Health Thermometer Service 1.0, 3.2; GATT Specification Supplement, Temperature Type.
public enum TemperatureType: UInt8, GATTValue, CaseIterable, CustomStringConvertible {
    /// In the armpit.
    case armpit = 1
    /// On the body, in general.
    case body
    /// In the ear, usually the lobe.
    case ear
    /// On a finger.
    case finger
    /// In the gastro-intestinal tract.
    case gastrointestinalTract
    /// In the mouth.
    case mouth
    /// In the rectum.
    case rectum
    /// On a toe.
    case toe
    /// On the eardrum.
    case eardrum

    /// In words.
    public var description: String {
        switch self {
        case .armpit: "armpit"
        case .body: "body"
        case .ear: "ear"
        case .finger: "finger"
        case .gastrointestinalTract: "gastro-intestinal tract"
        case .mouth: "mouth"
        case .rectum: "rectum"
        case .toe: "toe"
        case .eardrum: "eardrum"
        }
    }
}
