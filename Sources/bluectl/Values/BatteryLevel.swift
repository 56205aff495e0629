import Foundation

/// Battery Level (2A19): percent.
struct BatteryLevel: StandardValue, Equatable {
    /// 0...100.
    let percent: UInt8

    init?(_ data: Data) {
        var reader = ByteReader(data)
        guard let percent = reader.uint8(), percent <= 100, reader.count == 0 else { return nil }
        self.percent = percent
    }

    var text: String { "\(percent) %" }
}
