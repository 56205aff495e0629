import Foundation

/// Heart Rate Measurement (2A37).
struct HeartRateMeasurement: StandardValue, Equatable {
    /// Beats a minute.
    let rate: UInt16
    /// Whether the sensor touches the skin; nil where it cannot tell.
    let hasContact: Bool?
    /// Energy expended since the last reset, in kilojoules.
    let energy: UInt16?
    /// Intervals between beats, in units of 1/1024 s.
    let intervals: [UInt16]

    init?(_ data: Data) {
        var reader = ByteReader(data)
        guard let flags = reader.uint8() else { return nil }
        let isWide = flags & 0x01 != 0
        guard let rate = isWide ? reader.uint16() : reader.uint8().map(UInt16.init) else { return nil }
        self.rate = rate
        hasContact = flags & 0x04 == 0 ? nil : flags & 0x02 != 0
        if flags & 0x08 == 0 {
            energy = nil
        } else {
            guard let joules = reader.uint16() else { return nil }
            energy = joules
        }
        var intervals: [UInt16] = []
        if flags & 0x10 != 0 {
            while let interval = reader.uint16() { intervals.append(interval) }
        }
        self.intervals = intervals
        guard reader.count == 0 else { return nil }
    }

    var text: String {
        var parts = ["\(rate) bpm"]
        if let hasContact { parts.append(hasContact ? "skin contact" : "no skin contact") }
        if let energy { parts.append("\(energy) kJ") }
        if !intervals.isEmpty {
            let seconds = intervals.map { Decimals.fixed(Double($0) / 1024, 3) }
            parts.append("RR " + seconds.joined(separator: " ") + " s")
        }
        return parts.joined(separator: ", ")
    }
}
