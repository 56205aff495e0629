import Foundation

/// Peripheral Preferred Connection Parameters (2A04).
struct PreferredConnectionParameters: StandardValue, Equatable {
    let text: String

    init?(_ data: Data) {
        var reader = ByteReader(data)
        guard let minimum = reader.uint16(), let maximum = reader.uint16(), let latency = reader.uint16(),
            let timeout = reader.uint16(), reader.count == 0
        else { return nil }
        // Units: 1.25 ms and 10 ms; 0xFFFF is no specific value.
        func interval(_ raw: UInt16) -> String { raw == 0xFFFF ? "any" : Decimals.fixed(Double(raw) * 1.25, 2) + " ms" }
        let supervision = timeout == 0xFFFF ? "any" : "\(Int(timeout) * 10) ms"
        text = "interval \(interval(minimum)) to \(interval(maximum)), latency \(latency), timeout \(supervision)"
    }
}
