import ArgumentParser
import CoreBluetoothPackage

/// Commands one after the other, over one radio: connections last from one to the next.
@MainActor
final class Shell {
    /// The one that runs; nil where the process runs a single command.
    private(set) static var current: Shell?

    private let options: GlobalOptions
    private let radio: CBBackendSelection
    /// The central role, from the first command that wants it on.
    private var central: Session?
    /// What the command that runs waits for.
    private var running: StepWaiter?
    private var signals: Signals?
    private lazy var reader = LineReader(prompt: "bluectl> ") { [weak self] in
        self?.completion.candidates(after: $0, word: $1) ?? []
    }
    /// The devices that were heard or connected, by name or address, the newest last.
    private var devices: [CBPeripheral] = []
    private var isOver = false

    init(_ options: GlobalOptions) throws(Failure) {
        self.options = options
        let radio = try RadioSelection.selection(options)
        self.radio = options.verbose ? RadioSelection.traced(radio) : radio
    }

    // MARK: Lines

    /// Runs what a person types.
    func runInteractively() async {
        Self.current = self
        listen()
        var history = ShellHistory()
        while !isOver, let line = await reader.next(history: history.lines) {
            history.add(line)
            _ = await run(line, place: "")
        }
        await end()
        if let problem = history.save() { Console(options).note("the history is not kept: \(problem)") }
    }

    /// Runs the lines of a script until one fails.
    ///
    /// - Returns: The status of the line that failed; of the last one that did, where the script goes on.
    func run(script: Script, keepsGoing: Bool) async -> ExitStatus {
        Self.current = self
        listen()
        var status = ExitStatus.done
        while !isOver, let (line, place) = await script.next() {
            let outcome = await run(line, place: place)
            guard outcome != .done else { continue }
            status = outcome
            if !keepsGoing { break }
        }
        await end()
        return status
    }

    /// Runs a line.
    private func run(_ line: String, place: String) async -> ExitStatus {
        let runner = CommandRunner(root: ShellCommands.self, place: place)
        do throws(Failure) {
            let words = try ShellWords.split(line)
            guard let first = words.first else { return .done }
            if ["exit", "quit"].contains(first), words.count == 1 {
                isOver = true
                return .done
            }
            return await runner.run(options.inherited(by: ArgumentOrder.commandFirst(words)))
        } catch {
            let console = Console(options)
            console.error(Failure(error.status, place.isEmpty ? error.description : "\(place): \(error.description)"))
            return error.status
        }
    }

    /// Ctrl-C ends the command that runs; the other signals end the shell.
    private func listen() {
        signals = Signals { [weak self] number in
            guard let self else { return }
            if number != SIGINT { isOver = true }
            if let running { running.interrupt() } else if isOver { StandardInput.shared.cancel() }
        }
    }

    private func end() async {
        await central?.close()
        Self.current = nil
    }

    // MARK: Commands

    /// Runs a command over the shell's radio.
    func perform<Command: RadioCommand>(_ command: Command) async throws {
        let options = command.global
        guard options.effectiveBackend == self.options.effectiveBackend,
            options.effectiveAdapter == self.options.effectiveAdapter,
            options.effectiveWorld == self.options.effectiveWorld
        else { throw Failure(.usage, "a shell has one radio: --backend, --adapter and --world stand before \"shell\"") }
        let console = Console(options)
        let isCentral = Command.Role.self == Session.self
        let isFirst = central == nil
        let session = try session(Command.Role.self, console, options)
        running = session.steps
        console.onClosedOutput = { session.steps.interrupt() }
        defer {
            running = nil
            signals?.reset()
        }
        do {
            if isFirst || !isCentral { try await session.powerOn() } else { try await session.awaitPower() }
            try await command.perform(in: session)
            if isCentral { await session.endCommand() } else { await session.close() }
        } catch {
            Diagnostics.open()
            console.clearProgress()
            if isCentral { await session.endCommand() } else { await session.close() }
            if isFirst, let central, central.state != .poweredOn { self.central = nil }
            try command.check(error)
        }
    }

    private func session<Role: RadioSession>(
        _ role: Role.Type, _ console: Console, _ options: GlobalOptions
    ) throws(Failure) -> Role {
        let limit = options.timeout.duration
        guard let known = central as? Role else {
            let session = Role(radio, console: console, limit: limit)
            if let session = session as? Session { adopt(session) }
            return session
        }
        known.console = console
        known.steps.reset(limit: limit)
        return known
    }

    private func adopt(_ session: Session) {
        central = session
        session.onDisconnection = { [weak self] peripheral, failure in
            let name = peripheral.name.map(PrintableText.of) ?? peripheral.identifier.uuidString
            self?.remark("\(name): \(failure.description)")
        }
        session.onHeard = { [weak self] peripheral in
            guard let self, !devices.contains(where: { $0 === peripheral }) else { return }
            // Enough to complete; a street full of phones must not fill the memory.
            devices = (devices + [peripheral]).suffix(256)
        }
    }

    /// Tells what happened by itself, beside what is being typed.
    private func remark(_ text: String) {
        if reader.isEditing { reader.interject(text) } else { central?.console.note(text) }
    }

    // MARK: Completion

    private var completion: ShellCompletion {
        var names: [String] = []
        for peripheral in devices {
            names += [peripheral.name.map(PrintableText.of), peripheral.address].compactMap { $0 }
        }
        let services = central?.peripherals.filter { $0.state == .connected }.flatMap { $0.services ?? [] } ?? []
        let attributes = services.flatMap { service in
            (service.characteristics ?? []).flatMap { characteristic in
                [AttributeText.standardName(characteristic.uuid), characteristic.uuid.uuidString].compactMap { $0 }
            }
        }
        return ShellCompletion(devices: names, attributes: attributes)
    }
}

extension GlobalOptions {
    /// The arguments with the shell's own options behind the command's name; the command's own, which come later, win.
    func inherited(by arguments: [String]) -> [String] {
        guard let command = arguments.first, !command.hasPrefix("-"), command != "help" else { return arguments }
        var own: [String] = ["--timeout", timeout.defaultValueDescription]
        if json { own.append("--json") }
        if timestamps { own.append("--timestamps") }
        if verbose { own.append("--verbose") }
        if !ShellCommands.withoutRadio.contains(command) {
            if let backend { own += ["--backend", backend.rawValue] }
            if let adapter { own += ["--adapter", adapter] }
            if let world { own += ["--world", world] }
        }
        return [command] + own + arguments.dropFirst()
    }
}
