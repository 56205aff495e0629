/// The time limit of an operation.
enum TimeLimit {
    /// Runs an operation, and cancels it if it takes too long.
    ///
    /// - Throws: The error of `body`, or `error` if it takes longer than `limit`.
    static func run<Result: Sendable>(
        _ limit: Duration, orThrow error: any Error, _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await withThrowingTaskGroup(of: Result.self) { group in
            group.addTask { try await body() }
            group.addTask {
                try await Task.sleep(for: limit)
                throw error
            }
            defer { group.cancelAll() }
            guard let result = try await group.next() else { throw error }
            return result
        }
    }
}
