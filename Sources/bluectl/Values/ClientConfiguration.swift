import Foundation

/// Client Characteristic Configuration (2902).
struct ClientConfiguration: StandardValue, Equatable {
    let text: String

    init?(_ data: Data) {
        var reader = ByteReader(data)
        guard let raw = reader.uint16(), reader.count == 0 else { return nil }
        let parts = [raw & 1 != 0 ? "notifications" : nil, raw & 2 != 0 ? "indications" : nil].compactMap { $0 }
        text = parts.isEmpty ? "off" : parts.joined(separator: " and ")
    }
}
