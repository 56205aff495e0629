import Foundation

/// Tx Power Level (2A07): dBm.
struct TxPowerLevel: StandardValue, Equatable {
    /// -100...20.
    let level: Int8

    init?(_ data: Data) {
        var reader = ByteReader(data)
        guard let level = reader.int8(), reader.count == 0 else { return nil }
        self.level = level
    }

    var text: String { "\(level) dBm" }
}
