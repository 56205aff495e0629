import Foundation

/// PnP ID (2A50): vendor, product and version.
struct PnPID: StandardValue, Equatable {
    let text: String

    init?(_ data: Data) {
        var reader = ByteReader(data)
        guard let source = reader.uint8(), let vendor = reader.uint16(), let product = reader.uint16(),
            let version = reader.uint16(), reader.count == 0
        else { return nil }
        let registry = [1: "Bluetooth", 2: "USB"][source] ?? "registry \(source)"
        let digits = Decimals.hex(version, width: 4)
        let parts = [digits.prefix(2), digits.dropFirst(2).prefix(1), digits.suffix(1)].map { String($0) }
        text =
            "\(registry) vendor \(Decimals.hex(vendor, width: 4)), product \(Decimals.hex(product, width: 4)), "
            + "version \(parts.joined(separator: "."))"
    }
}
