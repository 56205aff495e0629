extension Encodable {
    /// Encodes the value as JSON on one line, with sorted fields and printable characters alone.
    package func jsonLine() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(self).printableJSON
    }
}
