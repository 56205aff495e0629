package import BluetoothSupport

/// The form of all JSON of the protocol.
package enum LiveJSON {
    /// Encodes a value on one line, with sorted fields and only printable characters.
    package static func encode(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(value).printableJSON
    }
}
