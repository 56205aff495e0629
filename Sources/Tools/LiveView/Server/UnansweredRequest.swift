/// The bytes that a connection has sent since the server's last answer, with their limits.
///
/// The server's time grows with the square of a line's length, and it reads a line to its end.
struct UnansweredRequest: Sendable {
    /// The longest line of a head, in bytes.
    static let maximumLineLength = 8_192
    /// The longest head: longer than the heads that the server answers with "431", so that it can answer.
    static let maximumHeadLength = 2 * AccessRules.maximumHeaderLength

    private let maximumLength: Int
    private var length = 0
    private var headLength = 0
    private var lineLength = 0
    /// Whether the last byte was a carriage return.
    private var isCarriageReturn = false
    private(set) var isHead = true
    /// The present line of the head, without its end.
    private var line: [UInt8] = []
    /// The value of the `Authorization` field; nil if the head has none so far.
    private(set) var authorization: String?

    /// - Parameter maximumLength: The most bytes without an answer.
    init(maximumLength: Int) { self.maximumLength = maximumLength }

    /// Adds bytes.
    ///
    /// - Returns: Whether the request is still within its limits.
    mutating func add(_ bytes: some Collection<UInt8>) -> Bool {
        length += bytes.count
        guard length <= maximumLength else { return false }
        for byte in bytes {
            guard isHead else { break }
            guard addToHead(byte) else { return false }
        }
        return true
    }

    private mutating func addToHead(_ byte: UInt8) -> Bool {
        let isEndOfLine = isCarriageReturn && byte == UInt8(ascii: "\n")
        isCarriageReturn = byte == UInt8(ascii: "\r")
        lineLength += 1
        headLength += 1
        guard lineLength <= Self.maximumLineLength, headLength <= Self.maximumHeadLength else { return false }
        guard isEndOfLine else {
            line.append(byte)
            return true
        }
        // An empty line ends the head.
        isHead = lineLength > 2
        lineLength = 0
        readField(String(decoding: line.dropLast(), as: UTF8.self))
        line.removeAll(keepingCapacity: true)
        return true
    }

    private mutating func readField(_ line: String) {
        let parts = line.split(separator: ":", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "authorization" else { return }
        authorization = String(parts[1].drop { $0 == " " })
    }

    /// Records that the server has sent something: the next bytes belong to another request.
    mutating func answered() { self = UnansweredRequest(maximumLength: maximumLength) }
}
