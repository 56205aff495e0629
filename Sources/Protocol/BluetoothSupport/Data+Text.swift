extension Data {
    /// The text of printable ASCII of at least four characters; nil for other bytes, since anything shorter is too often
    /// chance.
    package var plainText: String? {
        guard count >= 4, allSatisfy({ (0x20..<0x7F).contains($0) }) else { return nil }
        return String(decoding: self, as: UTF8.self)
    }
}
