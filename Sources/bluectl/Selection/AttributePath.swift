import CoreBluetoothPackage

/// `[SERVICE] CHARACTERISTIC` or `SERVICE/CHARACTERISTIC`, as the commands take it.
struct AttributePath: Equatable, Sendable {
    var service: AttributeQuery?
    var characteristic: AttributeQuery

    /// How the commands explain it.
    static let help = """
        SERVICE may be left out where the characteristic is the only one of its kind; SERVICE/CHARACTERISTIC in one \
        word means the same as two. Both are UUIDs (2A37) or standard names ("Heart Rate Measurement", \
        heart-rate-measurement), or what "explore" prints. 2A37#2 means the second of equal ones, @HANDLE the one with \
        that handle (@18 or @0x0012).
        """

    /// Reads one or two words.
    ///
    /// - Throws: A usage failure.
    init(_ words: [String]) throws(Failure) {
        let words = words.count == 1 ? Self.parts(of: words[0]) : words
        guard let last = words.last, words.count <= 2 else {
            throw Failure(.usage, "expected [SERVICE] CHARACTERISTIC, not \(words.count) words")
        }
        service = words.count == 2 ? try AttributeQuery(words[0]) : nil
        characteristic = try AttributeQuery(last)
    }

    /// The parts around a slash, which no standard name contains.
    private static func parts(of word: String) -> [String] {
        word.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map { String($0) }
    }
}
