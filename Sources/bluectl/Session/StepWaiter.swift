import BluetoothProfiles
import CoreBluetoothPackage

/// Awaits answers of a radio: one step at a time, each with a deadline.
@MainActor
final class StepWaiter {
    /// What is awaited, and who waits.
    private struct Waiter {
        let step: Step
        let limit: Duration?
        let continuation: CheckedContinuation<Void, any Error>
    }

    /// How long one step may take.
    var limit: Duration
    /// Set when the end of the conversation begins: an interruption no longer stops a step.
    var isClosing = false
    /// Called once when the user wants to stop.
    var onInterruption: (() -> Void)?

    private(set) var isInterrupted = false
    private var waiter: Waiter?
    private var timer: Task<Void, Never>?

    init(limit: Duration) {
        self.limit = limit
    }

    /// Whether anything is awaited.
    var isWaiting: Bool { waiter != nil }

    /// Whether this step is awaited now.
    func isAwaiting(_ step: Step) -> Bool { waiter?.step == step }

    /// Begins something and waits for its answer.
    ///
    /// - Throws: The answer's error as a `Failure`, `Interruption`, or a failure with status `timedOut`.
    func perform(_ step: Step, within limit: Duration?, _ begin: () -> Void) async throws {
        if isInterrupted, !isClosing { throw Interruption() }
        defer { stopTimer() }
        try await withCheckedThrowingContinuation { continuation in
            waiter = Waiter(step: step, limit: limit, continuation: continuation)
            restartTimer()
            begin()
        }
    }

    /// Ends the wait for a step, if it is awaited.
    func answer(_ step: Step, error: (any Error)? = nil) {
        guard isAwaiting(step) else { return }
        guard let error else { return resume(with: .success(())) }
        let isSubscribing = if case .notificationState = step { true } else { false }
        let text = ErrorText.of(error, isSubscribing: isSubscribing)
        resume(with: .failure(error as? Failure ?? Failure(.failed, text)))
    }

    /// Ends whatever is awaited.
    func fail(_ error: any Error) { resume(with: .failure(error)) }

    /// The user wants to stop: what is awaited ends with `Interruption`, and so does all that would begin.
    func interrupt() {
        guard !isInterrupted else { return }
        isInterrupted = true
        if !isClosing { fail(Interruption()) }
        onInterruption?()
    }

    /// Another command begins: an interruption of the last one does not count any more.
    func reset(limit: Duration) {
        self.limit = limit
        isInterrupted = false
        isClosing = false
        onInterruption = nil
    }

    /// The awaited step may take as long as it likes, until `restartTimer()`.
    func stopTimer() {
        timer?.cancel()
        timer = nil
    }

    /// Gives the awaited step its whole time again.
    func restartTimer() {
        stopTimer()
        guard let waiter, let limit = waiter.limit else { return }
        timer = Task { [weak self] in
            do {
                try await Task.sleep(for: limit)
            } catch {
                return
            }
            self?.resume(
                with: .failure(
                    Failure(.timedOut, "timed out after \(Self.text(limit)) \(waiter.step.phrase)")))
        }
    }

    private func resume(with result: Result<Void, any Error>) {
        guard let waiter else { return }
        self.waiter = nil
        stopTimer()
        waiter.continuation.resume(with: result)
    }

    private static func text(_ limit: Duration) -> String {
        let (seconds, attoseconds) = limit.components
        guard attoseconds != 0 else { return "\(seconds) s" }
        return Decimals.fixed(Double(seconds) + Double(attoseconds) / 1e18, 1) + " s"
    }
}
