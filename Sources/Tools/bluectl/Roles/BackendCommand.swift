import ArgumentParser
import BluetoothBackend
import BluetoothSupport
import BluetoothTracing
import CoreBluetoothClasses
import Dispatch
import Foundation
import Logging

#if Emulator
import BluetoothCapture
import BluetoothEmulator
#endif

protocol BackendCommand: AsyncParsableCommand, Sendable {
    associatedtype Role: CommandRole = CentralRole

    var global: GlobalOptions { get }

    /// Whether an interruption ends the command successfully.
    var endsByInterruption: Bool { get }

    func selection() throws(Failure) -> CBBackendSelection

    /// Runs the command; the adapter is on.
    @MainActor
    func perform(in role: Role) async throws
}

extension BackendCommand {
    var endsByInterruption: Bool { false }

    func selection() throws(Failure) -> CBBackendSelection { try BackendSelector.selection(global) }

    @MainActor
    func run() async throws { try await runOnBackend() }

    /// Runs the command on the backend that its options name, or on that of the shell.
    @MainActor
    func runOnBackend() async throws {
        if let shell = Shell.current { return try await shell.perform(self) }
        global.prepareProcess()
        let backend = BackendSelector.traced(try selection(), if: global.verbose)
        try BackendSelector.beginCapture(global)
        let role = Role(backend, console: Console(global), limit: global.timeout.duration)
        var signals: Signals?
        let result = await run(in: role) { work in signals = Signals { _ in work.cancel() } }
        defer { withExtendedLifetime(signals) {} }
        await role.close()
        try check(result)
    }

    /// Powers the adapter on and performs the command; a reader that closes its output ends it.
    ///
    /// - Parameters:
    ///   - warns: Whether the user is warned of emulated devices.
    ///   - started: Receives the task of the command, for the interruption.
    @MainActor
    func run(
        in role: Role, warns: Bool = true, started: (Task<Void, any Error>) -> Void
    ) async -> Result<Void, any Error> {
        let work = Task {
            try await role.powerOn(warns: warns)
            try await perform(in: role)
        }
        role.console.onClosedOutput = { work.cancel() }
        let watch = Task { try await role.console.watchOutput() }
        defer { watch.cancel() }
        started(work)
        let result = await work.result
        if case .failure = result {
            // The delayed warnings may explain the failure.
            Diagnostics.open()
            role.console.clearProgress()
        }
        return result
    }

    /// Throws the failure with which the command's work ended.
    ///
    /// - Throws: The failure, unless an interruption is a successful end of the command.
    func check(_ result: Result<Void, any Error>) throws {
        guard case .failure(let error) = result else { return }
        guard error is CancellationError else { throw error }
        if !endsByInterruption { throw Failure(.failed, "interrupted") }
    }
}

extension GlobalOptions {
    func prepareProcess() {
        // Managers read their adapter only from the environment.
        if let adapter { setenv("COREBLUETOOTH_ADAPTER", adapter, 1) }
        Diagnostics.bootstrap(isVerbose: verbose, isJSON: json)
    }

    /// Opens the log, for a command without a backend, and returns its output.
    @MainActor
    func openConsole() -> Console {
        Diagnostics.bootstrap(isVerbose: verbose, isJSON: json)
        Diagnostics.open()
        return Console(self)
    }
}

extension Console {
    convenience init(_ options: GlobalOptions) {
        self.init(
            isJSON: options.json, showsTime: options.timestamps, isAutomatic: options.effectiveBackend == .auto)
    }
}

enum BackendSelector {
    /// The backend that the options name.
    ///
    /// - Throws: A usage failure for a world file with a mistake, a failure for a backend that this build lacks.
    static func selection(_ options: GlobalOptions) throws(Failure) -> CBBackendSelection {
        switch options.effectiveBackend {
        case .bluez:
            guard !options.changesEmulator else {
                throw Failure(
                    .usage, "--seed and --preset need emulated devices: add --backend emulator or --backend auto")
            }
            return try bluez()
        case .emulator: return try emulator(options, world: options.effectiveWorld)
        case .auto: return .automatic(fallback: try emulator(options, world: options.effectiveWorld))
        }
    }

    /// Returns the backend, with all commands and events in the log if requested, values and addresses included.
    static func traced(_ selection: CBBackendSelection, if isVerbose: Bool) -> CBBackendSelection {
        guard isVerbose else { return selection }
        let log = BackendTrace.Destination.log(Logger(label: "trace"), level: .debug)
        return .custom(TracingBackend(around: selection.backend, to: log, showsValues: true))
    }

    private static func bluez() throws(Failure) -> CBBackendSelection {
        #if BlueZ && os(Linux)
        return .bluez()
        #else
        throw Failure(.failed, "this bluectl was built without BlueZ: use --backend emulator")
        #endif
    }

    #if Emulator
    /// The emulator that was created last: a process of the tool uses one.
    static let current = Lock<Emulator?>(nil)

    /// Creates an emulator of a file's devices, or of the built-in ones.
    static func makeEmulator(_ options: GlobalOptions, world: String?) throws(Failure) -> Emulator {
        // The shared emulator of programs, which COREBLUETOOTH_WORLD describes.
        if world == nil, !options.changesEmulator { return use(.shared) }
        return try makeEmulator(options, world: world) { _ in }
    }

    /// Creates an emulator of a file's devices, or of the built-in ones, with changed settings; the seed and the preset
    /// of the options override those of the file.
    static func makeEmulator(
        _ options: GlobalOptions, world path: String?, time: EmulatorTime = .real,
        _ change: (inout EmulatorConfiguration) -> Void
    ) throws(Failure) -> Emulator {
        var world = WorldDescription.builtIn
        if let path { world = try WorldFile(path: path).contents().description() }
        world.seed = options.seed ?? world.seed
        world.preset = options.preset.flatMap(EmulatorPreset.init(rawValue:)) ?? world.preset
        var configuration = world.preset?.configuration ?? .default
        change(&configuration)
        do {
            return use(try Emulator(world: world, configuration: configuration, time: time))
        } catch {
            guard let path else { throw Failure(.failed, "\(error)") }
            throw Failure(.usage, "\(path): \(error)")
        }
    }

    private static func use(_ emulator: Emulator) -> Emulator {
        current.withLock { $0 = emulator }
        return emulator
    }

    /// The capture of this process, which ends with it.
    private static let capture = Lock<EmulatorCapture?>(nil)
    #endif

    /// Captures the packets of the emulator that was created last, if the options request it.
    ///
    /// - Throws: A usage failure if there is no emulator, because only the kernel has the packets of an adapter.
    static func beginCapture(_ options: GlobalOptions) throws(Failure) {
        guard let file = options.capture else { return }
        #if Emulator
        guard let emulator = current.withLock({ $0 }) else {
            throw Failure(
                .usage,
                "--capture needs emulated devices: add --backend emulator or --backend auto; \(capturingAdapter(file))")
        }
        do throws(CaptureError) {
            let new = try emulator.capture(to: file)
            capture.withLock { $0 = new }
        } catch {
            throw Failure(.failed, "--capture: \(error)")
        }
        #else
        throw Failure(.usage, "this bluectl was built without the emulator and its captures; \(capturingAdapter(file))")
        #endif
    }

    /// The warning that the capture of this process stays empty, for a command that uses an adapter; nil without one.
    static var emptyCaptureWarning: String? {
        #if Emulator
        capture.withLock { $0?.file }.map { "--capture: \($0) stays empty; \(capturingAdapter($0))" }
        #else
        nil
        #endif
    }

    private static func capturingAdapter(_ file: String) -> String {
        "the packets of an adapter: sudo btmon --write \(PrintableText.of(file))"
    }

    /// Creates an emulator with a world file's devices, or with the built-in ones.
    static func emulator(_ options: GlobalOptions, world: String?) throws(Failure) -> CBBackendSelection {
        #if Emulator
        return .emulator(try makeEmulator(options, world: world))
        #else
        throw Failure(.failed, "this bluectl was built without the emulator")
        #endif
    }
}

/// The signals SIGINT, SIGTERM and SIGHUP: the first one ends the command, the second one the process.
@MainActor
final class Signals {
    private var sources: [any DispatchSourceSignal] = []
    private let first = FirstSignal()

    /// Calls `stop` on the main actor at the first SIGINT, SIGTERM or SIGHUP, with its number.
    init(stop: @escaping @MainActor (Int32) -> Void) {
        // A reader of the output that closes it is an error of that write, not the end of the process.
        signal(SIGPIPE, SIG_IGN)
        // Not the main queue: a second Ctrl-C must work while the main actor is busy.
        let queue = DispatchQueue(label: "bluectl.signals")
        let registrations = DispatchGroup()
        for number in [SIGINT, SIGTERM, SIGHUP] {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            let first = first
            source.setEventHandler { @Sendable in
                if !first.claim() { _exit(128 + number) }
                Task { @MainActor in stop(number) }
            }
            registrations.enter()
            source.setRegistrationHandler { @Sendable in registrations.leave() }
            source.resume()
            sources.append(source)
        }
        // A signal that arrives before is ignored, and lost.
        _ = registrations.wait(timeout: .now() + .seconds(1))
    }

    /// Treats the next signal as the first one again.
    func reset() { first.reset() }
}

private final class FirstSignal: Sendable {
    private let isTaken = Lock(false)

    func claim() -> Bool { !isTaken.withLock { exchange(&$0, with: true) } }

    func reset() { isTaken.withLock { $0 = false } }
}
