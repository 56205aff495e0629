import Foundation

/// CSC Measurement (2A5B): counters of revolutions and when they last changed.
struct CyclingSpeedAndCadence: StandardValue, Equatable {
    let text: String

    init?(_ data: Data) {
        var reader = ByteReader(data)
        guard let flags = reader.uint8() else { return nil }
        var parts: [String] = []
        // Event times have units of 1/1024 s.
        if flags & 0x01 != 0 {
            guard let turns = reader.uint32(), let time = reader.uint16() else { return nil }
            parts.append("wheel \(turns) turns at \(Decimals.fixed(Double(time) / 1024, 3)) s")
        }
        if flags & 0x02 != 0 {
            guard let turns = reader.uint16(), let time = reader.uint16() else { return nil }
            parts.append("crank \(turns) turns at \(Decimals.fixed(Double(time) / 1024, 3)) s")
        }
        guard reader.count == 0, !parts.isEmpty else { return nil }
        text = parts.joined(separator: ", ")
    }
}
