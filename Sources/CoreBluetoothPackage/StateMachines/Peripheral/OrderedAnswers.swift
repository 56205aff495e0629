import BluetoothBackend
import DequeModule

/// Answers in the order of the calls, in whatever order they come in (S106).
struct OrderedAnswers: Sendable {
    struct Answer: Equatable, Sendable {
        let operation: OperationID
        /// nil if it went well.
        let error: BackendError?
    }

    private struct Call {
        let operation: OperationID
        var answer: Answer?
    }

    private var calls = Deque<Call>()

    /// The calls that have no answer yet; those whose answer waits for an earlier one count as answered.
    var unanswered: [OperationID] { calls.filter { $0.answer == nil }.map(\.operation) }

    func contains(_ operation: OperationID) -> Bool { calls.contains { $0.operation == operation } }

    /// Notes a call that waits for an answer.
    mutating func ask(_ operation: OperationID) { calls.append(Call(operation: operation)) }

    /// Takes an answer in.
    ///
    /// - Returns: The answers that are due now: none while an earlier call waits.
    mutating func answer(_ operation: OperationID, _ error: BackendError?) -> [Answer] {
        guard let index = calls.firstIndex(where: { $0.operation == operation }) else { return [] }
        calls[index].answer = Answer(operation: operation, error: error)
        var due: [Answer] = []
        while let answer = calls.first?.answer {
            calls.removeFirst()
            due.append(answer)
        }
        return due
    }

    /// Forgets all calls.
    ///
    /// - Returns: Those that waited.
    mutating func removeAll() -> [OperationID] {
        defer { calls.removeAll() }
        return calls.map(\.operation)
    }
}
