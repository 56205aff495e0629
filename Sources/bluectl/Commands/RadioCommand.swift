import ArgumentParser
import CoreBluetoothPackage

/// A command that uses a radio.
protocol RadioCommand: AsyncParsableCommand, Sendable {
    /// What the radio is used as.
    associatedtype Role: RadioSession = Session

    var global: GlobalOptions { get }

    /// Whether Ctrl-C is how it ends, and no failure.
    var endsByInterruption: Bool { get }

    /// The radio.
    func selection() throws(Failure) -> CBBackendSelection

    /// Does the work; the radio is on.
    @MainActor
    func perform(in session: Role) async throws
}

extension RadioCommand {
    var endsByInterruption: Bool { false }

    func selection() throws(Failure) -> CBBackendSelection { try RadioSelection.selection(global) }

    func run() async throws { try await Self.run(self) }

    @MainActor
    private static func run(_ command: Self) async throws {
        if let shell = Shell.current { return try await shell.perform(command) }
        let options = command.global
        options.prepareProcess()
        let session = Role(try command.radio(), console: Console(options), limit: options.timeout.duration)
        let signals = Signals { _ in session.steps.interrupt() }
        session.console.onClosedOutput = { session.steps.interrupt() }
        defer { withExtendedLifetime(signals) {} }
        do {
            try await session.powerOn()
            try await command.perform(in: session)
            await session.close()
        } catch {
            // What was held back may explain the failure.
            Diagnostics.open()
            session.console.clearProgress()
            await session.close()
            try command.check(error)
        }
    }

    /// The radio, with its commands and events in the log where that is asked for.
    private func radio() throws(Failure) -> CBBackendSelection {
        let radio = try selection()
        return global.verbose ? RadioSelection.traced(radio) : radio
    }

    /// How an error of the work ends the command.
    ///
    /// - Throws: The failure, unless the command ends well by being interrupted.
    func check(_ error: any Error) throws {
        if error is Interruption, endsByInterruption { return }
        throw error is Interruption ? Failure(.failed, "interrupted") : error
    }
}

extension GlobalOptions {
    /// Sets up what the process has once: the adapter of its managers, and its log.
    func prepareProcess() {
        // The one way by which a manager learns of its adapter.
        if let adapter { setenv("COREBLUETOOTH_ADAPTER", adapter, 1) }
        Diagnostics.bootstrap(isVerbose: verbose, isJSON: json)
    }
}

extension Console {
    /// As the options of a command say.
    convenience init(_ options: GlobalOptions) { self.init(isJSON: options.json, showsTime: options.timestamps) }
}
