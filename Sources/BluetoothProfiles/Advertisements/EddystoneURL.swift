import Foundation

/// An address of the web as an Eddystone beacon sends it: compressed.
///
/// Source: Google, "Eddystone-URL", URL Scheme Prefix and HTTP URL encoding.
public struct EddystoneURL: GATTValue, CustomStringConvertible {
    private static let schemes = ["http://www.", "https://www.", "http://", "https://"]
    private static let endings = [
        ".com/", ".org/", ".edu/", ".net/", ".info/", ".biz/", ".gov/", ".com", ".org", ".edu", ".net", ".info", ".biz",
        ".gov",
    ]

    /// The bytes on the air: the scheme, then characters and codes of endings.
    private let bytes: Data
    /// The address.
    public let text: String

    /// Compresses an address.
    ///
    /// - Returns: nil for a scheme other than `http` and `https`, and for characters that a URL does not have. An
    ///   advertisement has room for 18 bytes.
    public init?(_ text: String) {
        // The longest prefix first: "http://www." before "http://".
        guard let scheme = Self.schemes.firstIndex(where: text.hasPrefix) else { return nil }
        var bytes = Data([UInt8(scheme)])
        var rest = text.dropFirst(Self.schemes[scheme].count)
        while let first = rest.first {
            if let ending = Self.endings.firstIndex(where: rest.hasPrefix) {
                bytes.append(UInt8(ending))
                rest = rest.dropFirst(Self.endings[ending].count)
            } else {
                guard let byte = first.asciiValue, Self.isGraphic(byte) else { return nil }
                bytes.append(byte)
                rest = rest.dropFirst()
            }
        }
        self.text = text
        self.bytes = bytes
    }

    /// Reads the scheme and the rest of the value.
    ///
    /// - Throws: Also that a scheme or a character is reserved.
    public init(from reader: inout GATTReader) throws(GATTValueError) {
        bytes = try reader.bytes("Encoded URL")
        guard let scheme = bytes.first else { throw reader.tooShort("URL Scheme", needed: 1) }
        guard Self.schemes.indices.contains(Int(scheme)) else { throw reader.reserved(scheme, "URL Scheme") }
        var text = Self.schemes[Int(scheme)]
        for byte in bytes.dropFirst() {
            if Self.endings.indices.contains(Int(byte)) {
                text += Self.endings[Int(byte)]
            } else if Self.isGraphic(byte) {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                throw reader.reserved(byte, "Encoded URL")
            }
        }
        self.text = text
    }

    /// Writes scheme and address.
    public func write(to writer: inout GATTWriter) { writer.append(bytes: bytes) }

    /// "Eddystone URL".
    public static var valueName: String { "Eddystone URL" }

    /// The address.
    public var description: String { text }

    /// The graphic characters of ASCII; a space is none.
    private static func isGraphic(_ byte: UInt8) -> Bool { (0x21...0x7E).contains(byte) }
}
