import BluetoothBackend

/// Puts made-up answers into their place among the radio's: answers on one link come in the order of the commands.
///
/// Pure.
struct ResponseOrder<Answer: Sendable>: Sendable {
    private struct Entry {
        var operation: OperationID
        var answer: Answer?
    }

    private var entries: [Entry] = []

    init() {}

    /// Notes an operation that the radio will answer.
    mutating func expect(_ operation: OperationID) {
        entries.append(Entry(operation: operation, answer: nil))
    }

    /// Notes an operation with its made-up answer.
    ///
    /// - Returns: The answers that can be told now.
    mutating func answer(_ operation: OperationID, with answer: Answer) -> [Answer] {
        entries.append(Entry(operation: operation, answer: answer))
        return takeReady()
    }

    /// Notes that the radio answered.
    ///
    /// - Returns: The made-up answers that can be told after it.
    mutating func answered(_ operation: OperationID) -> [Answer] {
        entries.removeAll { $0.operation == operation && $0.answer == nil }
        return takeReady()
    }

    private mutating func takeReady() -> [Answer] {
        let ready = entries.prefix { $0.answer != nil }.compactMap(\.answer)
        entries.removeFirst(ready.count)
        return ready
    }
}
