/// `[SERVICE] CHARACTERISTIC`, as the commands take it.
struct AttributePath: Equatable, Sendable {
    var service: AttributeQuery?
    var characteristic: AttributeQuery

    /// Reads one or two words.
    ///
    /// - Throws: A usage failure.
    init(_ words: [String]) throws(Failure) {
        guard let last = words.last, words.count <= 2 else {
            throw Failure(.usage, "expected [SERVICE] CHARACTERISTIC, not \(words.count) words")
        }
        service = words.count == 2 ? try AttributeQuery(words[0]) : nil
        characteristic = try AttributeQuery(last)
    }
}
