import Foundation

/// The device that the user means: an identifier, an address or a name.
enum DeviceQuery: Equatable, Sendable {
    case identifier(UUID)
    /// An address in upper case, with colons.
    case address(String)
    case name(String)
    /// The device `.`, which was connected last in a shell.
    case last

    /// Reads text as an identifier or an address if it has that form, otherwise as a name.
    ///
    /// - Returns: nil for empty text.
    init?(_ text: String) {
        guard !text.isEmpty else { return nil }
        if text == "." {
            self = .last
        } else if let identifier = UUID(uuidString: text) {
            self = .identifier(identifier)
        } else if let address = Self.address(in: text) {
            self = .address(address)
        } else {
            self = .name(text)
        }
    }

    /// Whether the query means the device.
    ///
    /// Names are compared whole, ignoring case.
    func matches(_ device: DeviceRecord) -> Bool {
        switch self {
        case .identifier(let identifier): device.identifier == identifier
        case .address(let address): device.address?.uppercased() == address
        case .name(let name): device.names.contains { $0.lowercased() == name.lowercased() }
        case .last: false
        }
    }

    /// Whether at most one device can match.
    var isUnique: Bool {
        if case .name = self { false } else { true }
    }

    var text: String {
        switch self {
        case .identifier(let identifier): identifier.uuidString
        case .address(let address): address
        case .name(let name): PrintableText.of(name)
        case .last: "."
        }
    }

    /// Returns the address, which has `:`, `-` or `_` between the bytes: `F0:F1:F2:F3:F4:F5`.
    private static func address(in text: String) -> String? {
        for separator: Character in [":", "-", "_"] {
            let parts = text.split(separator: separator, omittingEmptySubsequences: false)
            guard parts.count == 6 else { continue }
            let isHex = parts.allSatisfy { $0.count == 2 && $0.allSatisfy { $0.isASCII && $0.isHexDigit } }
            if isHex { return parts.joined(separator: ":").uppercased() }
        }
        return nil
    }
}
