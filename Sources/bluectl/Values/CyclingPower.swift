import Foundation

/// Cycling Power Measurement (2A63): the power; what follows it is left to the bytes.
struct CyclingPower: StandardValue, Equatable {
    /// Watts.
    let power: Int16

    init?(_ data: Data) {
        var reader = ByteReader(data)
        guard reader.uint16() != nil, let power = reader.int16() else { return nil }
        self.power = power
    }

    var text: String { "\(power) W" }
}
