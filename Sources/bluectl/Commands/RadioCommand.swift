import ArgumentParser
import CoreBluetoothPackage

/// A command that uses a radio.
protocol RadioCommand: AsyncParsableCommand, Sendable {
    /// What the radio is used as.
    associatedtype Role: RadioSession = Session

    var global: GlobalOptions { get }

    /// Whether Ctrl-C is how it ends, and no failure.
    static var endsByInterruption: Bool { get }

    /// The radio.
    func selection() throws(Failure) -> CBBackendSelection

    /// Does the work; the radio is on.
    @MainActor
    func perform(in session: Role) async throws
}

extension RadioCommand {
    static var endsByInterruption: Bool { false }

    func selection() throws(Failure) -> CBBackendSelection { try RadioSelection.selection(global) }

    func run() async throws { try await Self.run(self) }

    @MainActor
    private static func run(_ command: Self) async throws {
        let options = command.global
        // The one way by which a manager learns of its adapter.
        if let adapter = options.adapter { setenv("COREBLUETOOTH_ADAPTER", adapter, 1) }
        Diagnostics.bootstrap(isVerbose: options.verbose, isJSON: options.json)
        let console = Console(isJSON: options.json)
        let session = Role(try command.selection(), console: console, limit: options.timeout.duration)
        let signals = Signals { session.steps.interrupt() }
        console.onClosedOutput = { session.steps.interrupt() }
        defer { withExtendedLifetime(signals) {} }
        do {
            try await session.powerOn()
            try await command.perform(in: session)
            await session.close()
        } catch {
            // What was held back may explain the failure.
            Diagnostics.open()
            console.clearProgress()
            await session.close()
            if error is Interruption, endsByInterruption { return }
            throw error is Interruption ? Failure(.failed, "interrupted") : error
        }
    }
}
