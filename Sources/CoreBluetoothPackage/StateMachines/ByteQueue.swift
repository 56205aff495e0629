import DequeModule
import FoundationEssentials

/// Bytes in the order of their arrival; where one arrival ends and the next begins is forgotten (S152).
struct ByteQueue {
    private var chunks = Deque<Data>()
    private var taken = 0
    /// How many bytes there are.
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    mutating func append(_ data: Data) {
        guard !data.isEmpty else { return }
        chunks.append(data)
        count += data.count
    }

    /// Moves bytes from the front to `buffer`, as many as there are and as fit.
    ///
    /// - Returns: How many.
    mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        var filled = 0
        while filled < buffer.count, let chunk = chunks.first {
            let part = chunk.dropFirst(taken).prefix(buffer.count - filled)
            UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]).copyBytes(from: part)
            filled += part.count
            taken += part.count
            guard taken == chunk.count else { break }
            chunks.removeFirst()
            taken = 0
        }
        count -= filled
        return filled
    }

    mutating func removeAll() {
        self = ByteQueue()
    }
}
