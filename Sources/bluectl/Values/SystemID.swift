import Foundation

/// System ID (2A23): an organizationally unique identifier and the maker's own.
struct SystemID: StandardValue, Equatable {
    let text: String

    init?(_ data: Data) {
        var reader = ByteReader(data)
        guard let maker = reader.uint40(), let organization = reader.uint24(), reader.count == 0 else { return nil }
        text = "organization \(Decimals.hex(organization, width: 6)), device \(Decimals.hex(maker, width: 10))"
    }
}
