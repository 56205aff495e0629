extension String {
    /// As many whole Unicode scalars as fit into so many bytes of UTF-8.
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
