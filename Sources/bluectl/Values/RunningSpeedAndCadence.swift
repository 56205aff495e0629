import Foundation

/// RSC Measurement (2A53).
struct RunningSpeedAndCadence: StandardValue, Equatable {
    let text: String

    init?(_ data: Data) {
        var reader = ByteReader(data)
        guard let flags = reader.uint8(), let speed = reader.uint16(), let cadence = reader.uint8() else { return nil }
        // Units: 1/256 m/s, steps a minute, cm, dm.
        var parts = [Decimals.fixed(Double(speed) / 256, 2) + " m/s", "\(cadence) steps/min"]
        if flags & 0x01 != 0 {
            guard let stride = reader.uint16() else { return nil }
            parts.append("stride \(Decimals.fixed(Double(stride) / 100, 2)) m")
        }
        if flags & 0x02 != 0 {
            guard let distance = reader.uint32() else { return nil }
            parts.append("\(Decimals.fixed(Double(distance) / 10, 1)) m")
        }
        parts.append(flags & 0x04 == 0 ? "walking" : "running")
        guard reader.count == 0 else { return nil }
        text = parts.joined(separator: ", ")
    }
}
