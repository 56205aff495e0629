import CoreBluetoothPackage

/// A conversation with a radio in one role: delegate callbacks as `await`.
///
/// All runs on the main actor, whose queue is the manager's.
@MainActor
protocol RadioSession: AnyObject, Sendable {
    /// - Parameters:
    ///   - radio: The radio.
    ///   - limit: How long one step may take.
    init(_ radio: CBBackendSelection, console: Console, limit: Duration)

    var radio: CBBackendSelection { get }
    /// Where the command that runs writes.
    var console: Console { get set }
    /// What is awaited.
    var steps: StepWaiter { get }
    /// The state of the manager.
    var state: CBManagerState { get }
    /// The manager's radio: "bluez", "emulator".
    var backendName: String { get }

    /// Ends all that was begun.
    func close() async

    /// Ends what a command began, and keeps the connections: in a shell, where other commands follow.
    func endCommand() async
}

extension RadioSession {
    func endCommand() async { await close() }

    /// "emulator" where the radio is that, for records; nil for a real one.
    var emulatedBackend: String? { backendName == "emulator" ? backendName : nil }

    /// How long one step may take.
    var limit: Duration { steps.limit }

    // MARK: Steps

    /// As ``StepWaiter/perform(_:within:_:)``.
    func perform(_ step: Step, within limit: Duration?, _ begin: () -> Void = {}) async throws {
        try await steps.perform(step, within: limit, begin)
    }

    /// Begins something and waits for its answer, as long as one step may take.
    func perform(_ step: Step, _ begin: () -> Void = {}) async throws {
        try await steps.perform(step, within: limit, begin)
    }

    /// Waits until the user ends it, or for so long.
    func wait(for duration: Duration?) async throws {
        do {
            try await perform(.end, within: duration)
        } catch let failure as Failure where failure.status == .timedOut {
            // The duration is over.
        }
    }

    /// As ``StepWaiter/isAwaiting(_:)``.
    func isAwaiting(_ step: Step) -> Bool { steps.isAwaiting(step) }

    /// As ``StepWaiter/answer(_:error:)``.
    func answer(_ step: Step, error: (any Error)? = nil) { steps.answer(step, error: error) }

    /// As ``StepWaiter/fail(_:)``.
    func fail(_ error: any Error) { steps.fail(error) }

    // MARK: Power

    /// Waits until the radio is on.
    ///
    /// - Throws: A failure with the one line that says what to do, if it is off, missing or forbidden.
    func awaitPower() async throws {
        if state == .unknown || state == .resetting { try await perform(.state) }
        guard state == .poweredOn else { throw RadioState.failure(state) }
    }

    /// As `awaitPower()`; the log is open afterwards, and the user is told if the radio is emulated.
    func powerOn() async throws {
        console.progress("Waiting for the radio…")
        try await awaitPower()
        Diagnostics.open()
        console.clearProgress()
        if emulatedBackend != nil { console.note("EMULATED: the devices of this radio are not real") }
    }
}
