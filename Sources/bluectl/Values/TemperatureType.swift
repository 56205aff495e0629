import Foundation

/// Temperature Type (2A1D): where on the body it is measured.
enum TemperatureType: UInt8, StandardValue {
    case armpit = 1
    case body, ear, finger, gastrointestinalTract, mouth, rectum, toe, eardrum

    init?(_ data: Data) {
        guard data.count == 1, let raw = data.first else { return nil }
        self.init(rawValue: raw)
    }

    var text: String {
        switch self {
        case .gastrointestinalTract: "gastro-intestinal tract"
        default: "\(self)"
        }
    }
}
