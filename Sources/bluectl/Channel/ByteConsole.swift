import Foundation

/// Carries standard input to a device, and what comes from it to standard output, as `nc` does.
@MainActor
final class ByteConsole {
    /// When it ends after the input has.
    struct Ending {
        /// How many bytes have to come; nil ends after a quiet time.
        var count: Int?
        /// How long nothing has to come, where no count is given.
        var quiet: Duration
    }

    private let session: Session
    private let ending: Ending
    private let received: (Data) -> Void
    private var count = 0
    /// Why nothing more is to be read.
    private var failure: (any Error)?

    /// - Parameter received: Prints what came.
    init(_ session: Session, ending: Ending, received: @escaping (Data) -> Void) {
        self.session = session
        self.ending = ending
        self.received = received
    }

    /// Bytes came from the device.
    func receive(_ data: Data) {
        guard !isComplete else { return }
        count += data.count
        received(data)
        if isComplete {
            stop(nil)
        } else if session.isAwaiting(.end) {
            session.steps.restartTimer()
        }
    }

    /// The device sends nothing more.
    func stop(_ failure: (any Error)?) {
        self.failure = self.failure ?? failure
        hasStopped = true
        StandardInput.shared.cancel()
        session.answer(.end)
    }

    private var hasStopped = false

    private var isComplete: Bool { ending.count.map { count >= $0 } ?? false }

    /// Sends what comes on standard input until it ends, then waits for what the device still sends.
    ///
    /// - Throws: What ended it before its time.
    func run(_ send: (Data) async throws -> Void) async throws {
        let input = StandardInput.shared
        session.steps.onInterruption = { [weak self] in self?.stop(Interruption()) }
        let before = session.onDisconnection
        session.onDisconnection = { [weak self] peripheral, failure in
            guard peripheral === self?.session.peripheral else { return before?(peripheral, failure) ?? () }
            self?.stop(failure)
        }
        defer {
            session.steps.onInterruption = nil
            session.onDisconnection = before
        }
        while !hasStopped, let data = await input.next() { try await send(data) }
        if !hasStopped {
            if ending.count == nil {
                try await session.wait(for: ending.quiet)
            } else {
                try await session.perform(.end, within: session.limit)
            }
        }
        if let failure { throw failure }
    }
}
