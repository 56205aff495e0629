/// A limit of time that does not run while the user is asked.
@MainActor
final class PausableTimeout {
    private let limit: Duration
    private let phrase: String
    private var timer: Task<Void, any Error>?
    private var work: Task<Void, any Error>?
    private var isOver = false

    /// - Parameter phrase: What is done, for "timed out after 15 s …".
    init(_ limit: Duration, _ phrase: String) {
        self.limit = limit
        self.phrase = phrase
    }

    /// Runs `body`, and cancels it at the end of the time.
    func run(_ body: @escaping @MainActor () async throws -> Void) async throws {
        let work = Task { try await body() }
        self.work = work
        restart()
        defer { pause() }
        do {
            try await withTaskCancellationHandler {
                try await work.value
            } onCancel: {
                work.cancel()
            }
        } catch is CancellationError where isOver {
            throw Failure.timedOut(limit, phrase)
        }
    }

    /// Lets the time stand still until `restart()`.
    func pause() {
        timer?.cancel()
        timer = nil
    }

    /// Gives the whole time again.
    func restart() {
        pause()
        timer = Task { [limit] in
            try await Task.sleep(for: limit)
            isOver = true
            work?.cancel()
        }
    }
}
