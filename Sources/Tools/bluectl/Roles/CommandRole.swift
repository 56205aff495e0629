import AsyncBluetooth
import CoreBluetoothClasses

/// The role in which a command uses Bluetooth: central or peripheral.
///
/// A command runs in its own task; an interruption by the user cancels it.
@MainActor
protocol CommandRole: AnyObject, Sendable {
    init(_ backend: CBBackendSelection, console: Console, limit: Duration)

    var backend: CBBackendSelection { get }
    var console: Console { get set }
    var limit: Duration { get set }
    /// The name of the backend, "bluez" or "emulator".
    var backendName: String { get }
    /// The adapter's present state, then each change.
    var adapterStates: EventSequence<CBManagerState> { get }

    /// Waits until the adapter is on.
    ///
    /// - Throws: A failure with a remedy, if the adapter is off, missing or forbidden.
    func waitUntilPoweredOn() async throws

    /// Waits for a duration, or until the command is interrupted.
    func wait(for duration: Duration?) async throws

    /// Ends all operations and connections.
    func close() async

    /// Ends the operations of a command, but not its connections: in a shell, other commands follow.
    func endCommand() async
}

func sleepUntilCancelled() async throws {
    while true { try await Task.sleep(for: .seconds(86_400)) }
}

extension CommandRole {
    func endCommand() async { await close() }

    func wait(for duration: Duration?) async throws {
        if let duration { try await Task.sleep(for: duration) } else { try await sleepUntilCancelled() }
    }

    /// The text "emulator" for that backend, for records; nil for a real adapter.
    var emulatedBackend: String? { backendName == "emulator" ? backendName : nil }

    /// Performs `waitUntilPoweredOn()`, then opens the log.
    ///
    /// - Parameter warns: Whether the user is warned of emulated devices, and of a capture without them.
    func powerOn(warns: Bool = true) async throws {
        console.progress("Waiting for the adapter…")
        try await waitUntilPoweredOn()
        Diagnostics.open()
        console.clearProgress()
        console.emulatedBackend = emulatedBackend
        guard warns else { return }
        if emulatedBackend != nil {
            console.warnEmulated("devices")
        } else if let warning = BackendSelector.emptyCaptureWarning {
            console.warn(warning)
        }
    }

    /// Runs one step of a command.
    ///
    /// - Parameters:
    ///   - phrase: The action, for "timed out after 15 s …".
    ///   - limit: The time limit; nil for none.
    ///   - needsAdapter: Whether the adapter is on when the step begins.
    /// - Throws: A `Failure`, or `CancellationError`.
    func step<Result: Sendable>(
        _ phrase: String, within limit: Duration?, needsAdapter: Bool = true,
        _ body: @escaping @MainActor @Sendable () async throws -> Result
    ) async throws -> Result {
        do {
            guard let limit else { return try await body() }
            return try await withTimeout(limit, clock: ContinuousClock(), body)
        } catch let error as BluetoothError {
            if case .timedOut(let limit) = error.reason { throw Failure.timedOut(limit, phrase) }
            throw needsAdapter ? await failure(error) : Failure(error)
        }
    }

    /// Returns the failure of an operation that the adapter has ended, or another one.
    func failure(_ error: BluetoothError) async -> Failure {
        if case .unavailable(.poweredOff) = error.reason, await isAdapterGone() { return AdapterFailure.gone() }
        return Failure(error)
    }

    /// Whether an adapter that has just been switched off is gone: bluetoothd reports it as off before it removes it.
    func isAdapterGone() async -> Bool {
        let states = adapterStates
        do {
            return try await withTimeout(.seconds(2), clock: ContinuousClock()) {
                // The first may be the state before the change.
                for await state in states where ![.poweredOn, .poweredOff].contains(state) { return true }
                return false
            }
        } catch {
            // The adapter stays off, or the command is interrupted.
            return false
        }
    }

    /// Runs one step as `step(_:within:_:)`, within the time limit of a step.
    func step<Result: Sendable>(
        _ phrase: String, _ body: @escaping @MainActor @Sendable () async throws -> Result
    ) async throws -> Result {
        try await step(phrase, within: limit, body)
    }

    /// Runs one step as `step(_:_:)`; a failure begins with the problem: "cannot advertise".
    func step<Result: Sendable>(
        _ phrase: String, orFail problem: String,
        _ body: @escaping @MainActor @Sendable () async throws -> Result
    ) async throws -> Result {
        do {
            return try await step(phrase, body)
        } catch let failure as Failure where failure.status != .timedOut {
            throw Failure(failure.status, "\(problem): \(failure.description)")
        }
    }
}
