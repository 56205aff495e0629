import Foundation

/// Sensor Location (2A5D).
struct SensorLocation: StandardValue, Equatable {
    private static let names = [
        "other", "top of shoe", "in shoe", "hip", "front wheel", "left crank", "right crank", "left pedal",
        "right pedal", "front hub", "rear dropout", "chainstay", "rear wheel", "rear hub", "chest", "spider",
        "chain ring",
    ]

    let text: String

    init?(_ data: Data) {
        guard data.count == 1, let raw = data.first, Self.names.indices.contains(Int(raw)) else { return nil }
        text = Self.names[Int(raw)]
    }
}
