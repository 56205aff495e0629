import Foundation

/// Carries standard input to a device, and what comes from it to standard output, as `nc` does.
@MainActor
final class BytePipe {
    /// When it ends after the input has.
    struct Ending {
        /// How many bytes have to come; nil ends after a quiet time.
        var count: Int?
        /// How long nothing has to come, where no count is given.
        var quiet: Duration
        /// How long nothing may come, where a count is given.
        var limit: Duration
    }

    private let ending: Ending
    private let show: (Data) -> Void
    private var count = 0
    private var lastActivity = ContinuousClock.now

    /// - Parameter show: Prints what came.
    init(_ ending: Ending, show: @escaping (Data) -> Void) {
        self.ending = ending
        self.show = show
    }

    /// Sends what comes on standard input until it ends, then waits for what the device still sends.
    ///
    /// - Parameters:
    ///   - receive: The next bytes of the device; nil once it sends nothing more.
    ///   - send: Sends bytes to the device.
    /// - Throws: What ended it before its time.
    func run(
        receive: @escaping @Sendable () async throws -> Data?,
        send: @escaping @MainActor @Sendable (Data) async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.receiveAll(receive) }
            group.addTask { try await self.sendAll(send) }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private func receiveAll(_ receive: @Sendable () async throws -> Data?) async throws {
        while !isComplete, let data = try await receive() {
            count += data.count
            lastActivity = .now
            show(data)
        }
    }

    private func sendAll(_ send: @MainActor @Sendable (Data) async throws -> Void) async throws {
        while let data = await StandardInput.shared.next() { try await send(data) }
        try Task.checkCancellation()
        try await waitForQuiet()
    }

    private var isComplete: Bool { ending.count.map { count >= $0 } ?? false }

    /// Waits until nothing has come for long enough since the end of the input.
    private func waitForQuiet() async throws {
        let limit = ending.count == nil ? ending.quiet : ending.limit
        lastActivity = .now
        while case let end = lastActivity + limit, end > .now { try await Task.sleep(until: end, clock: .continuous) }
        if ending.count != nil { throw Failure.timedOut(limit, "waiting for a value") }
    }
}
