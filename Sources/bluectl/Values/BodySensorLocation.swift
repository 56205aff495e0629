import Foundation

/// Body Sensor Location (2A38).
enum BodySensorLocation: UInt8, StandardValue, CaseIterable {
    case other, chest, wrist, finger, hand, earLobe, foot

    init?(_ data: Data) {
        guard data.count == 1, let raw = data.first else { return nil }
        self.init(rawValue: raw)
    }

    var text: String {
        switch self {
        case .earLobe: "ear lobe"
        default: "\(self)"
        }
    }
}
