extension String {
    /// Returns the longest prefix of whole Unicode scalars that fits into `limit` bytes of UTF-8.
    package func prefix(utf8Bytes limit: Int) -> String {
        guard utf8.count > limit else { return self }
        var result = String.UnicodeScalarView()
        var bytes = 0
        for scalar in unicodeScalars {
            bytes += UTF8.width(scalar)
            guard bytes <= limit else { break }
            result.append(scalar)
        }
        return String(result)
    }
}
