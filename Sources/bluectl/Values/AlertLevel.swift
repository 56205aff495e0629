import Foundation

/// Alert Level (2A06).
enum AlertLevel: UInt8, StandardValue {
    case none, mild, high

    init?(_ data: Data) {
        guard data.count == 1, let raw = data.first else { return nil }
        self.init(rawValue: raw)
    }

    var text: String {
        switch self {
        case .none: "no alert"
        case .mild: "mild alert"
        case .high: "high alert"
        }
    }
}
