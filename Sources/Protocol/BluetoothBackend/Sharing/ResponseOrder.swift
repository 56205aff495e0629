/// Puts responses into the order of their requests.
///
/// Pure. It grows with the open requests, whose number its owner limits.
package struct ResponseOrder<Response: Sendable>: Sendable {
    private var requests: [(operation: OperationID, response: Response?)] = []

    package init() {}

    /// The operations without a response; an operation whose response waits for an earlier one is not among them.
    package var unanswered: [OperationID] { requests.filter { $0.response == nil }.map(\.operation) }

    /// Whether an operation waits, for its response or for the responses before it.
    package func contains(_ operation: OperationID) -> Bool { requests.contains { $0.operation == operation } }

    package mutating func append(_ operation: OperationID) { requests.append((operation, nil)) }

    /// Stores the response to an operation.
    ///
    /// - Returns: The responses that are due now; none while an earlier operation waits.
    package mutating func respond(to operation: OperationID, with response: Response) -> [Response] {
        guard let index = requests.firstIndex(where: { $0.operation == operation }) else { return [] }
        requests[index].response = response
        return takeDue()
    }

    /// Removes an operation whose response is delivered separately.
    ///
    /// - Returns: The responses that are due after it.
    package mutating func remove(_ operation: OperationID) -> [Response] {
        requests.removeAll { $0.operation == operation && $0.response == nil }
        return takeDue()
    }

    /// Removes all operations.
    ///
    /// - Returns: The removed operations.
    package mutating func removeAll() -> [OperationID] {
        defer { requests.removeAll() }
        return requests.map(\.operation)
    }

    private mutating func takeDue() -> [Response] {
        let due = requests.prefix { $0.response != nil }.compactMap(\.response)
        requests.removeFirst(due.count)
        return due
    }
}
