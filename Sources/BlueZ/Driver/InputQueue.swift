#if os(Linux)
import DequeModule

/// The inputs of a machine, handled one after the other: an input that an effect causes waits for the effects before it.
struct InputQueue<Input> {
    private var waiting: Deque<Input> = []
    private var isProcessing = false

    /// Takes an input.
    ///
    /// - Returns: Whether the caller shall process what `next()` gives; else an input before it is being processed.
    mutating func add(_ input: Input) -> Bool {
        waiting.append(input)
        defer { isProcessing = true }
        return !isProcessing
    }

    /// The next input, once all that the last one led to is done; nil ends the processing.
    mutating func next() -> Input? {
        let input = waiting.popFirst()
        isProcessing = input != nil
        return input
    }
}

extension InputQueue: Sendable where Input: Sendable {}
#endif
