import ArgumentParser
import CoreBluetoothPackage

/// A command that uses Bluetooth.
protocol BackendCommand: AsyncParsableCommand, Sendable {
    /// The role in which it does so.
    associatedtype Role: CommandRole = CentralRole

    var global: GlobalOptions { get }

    /// Whether Ctrl-C is how it ends, and no failure.
    var endsByInterruption: Bool { get }

    /// The backend.
    func selection() throws(Failure) -> CBBackendSelection

    /// Does the work; the adapter is on.
    @MainActor
    func perform(in role: Role) async throws
}

extension BackendCommand {
    var endsByInterruption: Bool { false }

    func selection() throws(Failure) -> CBBackendSelection { try BackendSelector.selection(global) }

    func run() async throws { try await Self.run(self) }

    @MainActor
    private static func run(_ command: Self) async throws {
        if let shell = Shell.current { return try await shell.perform(command) }
        let options = command.global
        options.prepareProcess()
        let role = Role(try command.tracedSelection(), console: Console(options), limit: options.timeout.duration)
        let work = Task {
            try await role.powerOn()
            try await command.perform(in: role)
        }
        let signals = Signals { _ in work.cancel() }
        role.console.onClosedOutput = { work.cancel() }
        defer { withExtendedLifetime(signals) {} }
        let result = await work.result
        if case .failure = result {
            // What was held back may explain the failure.
            Diagnostics.open()
            role.console.clearProgress()
        }
        await role.close()
        try command.check(result)
    }

    /// The backend, with its commands and events in the log where that is asked for.
    private func tracedSelection() throws(Failure) -> CBBackendSelection {
        let backend = try selection()
        return global.verbose ? BackendSelector.traced(backend) : backend
    }

    /// Ends the command as its work ended.
    ///
    /// - Throws: The failure, unless the command ends well by being interrupted.
    func check(_ result: Result<Void, any Error>) throws {
        guard case .failure(let error) = result else { return }
        guard error is CancellationError else { throw error }
        if !endsByInterruption { throw Failure(.failed, "interrupted") }
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
