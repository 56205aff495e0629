import ArgumentParser
import AsyncBluetooth
import CoreBluetoothClasses

/// A shell that runs commands one after the other, over one backend: connections last from one to the next.
@MainActor
final class Shell {
    /// The running shell; nil if the process runs a single command.
    private(set) static var current: Shell?

    private let options: GlobalOptions
    private let backend: CBBackendSelection
    /// The central role, from the first command on that uses it.
    private var central: CentralRole?
    private var running: Task<Void, any Error>?
    /// Links that were lost while a command ran.
    private var lostLinks: [(peripheral: Peripheral, failure: Failure)] = []
    private var signals: Signals?
    private lazy var reader = LineReader(prompt: "bluectl> ") { [weak self] in
        self?.completion.candidates(after: $0, word: $1) ?? []
    }
    /// The devices that were heard or connected, by name or address, the newest last.
    private var devices: [Peripheral] = []
    private var isOver = false

    init(_ options: GlobalOptions) throws(Failure) {
        self.options = options
        backend = BackendSelector.traced(try BackendSelector.selection(options), if: options.verbose)
        try BackendSelector.beginCapture(options)
    }

    // MARK: Lines

    func runInteractively() async {
        Self.current = self
        listen()
        var history = ShellHistory()
        while !isOver, let line = await reader.next(history: history.lines) {
            history.add(line)
            _ = await run(line, place: "")
        }
        await end()
        if let problem = history.save() { Console(options).warn("the history was not written: \(problem)") }
    }

    /// Runs the lines of a script until one fails.
    ///
    /// - Returns: The status of the line that failed, or of the last one if the script continues after failures.
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
            return runner.report(error, Console(options))
        }
    }

    /// Handles signals: Ctrl-C ends the running command, the other signals end the shell.
    private func listen() {
        signals = Signals { [weak self] number in
            guard let self else { return }
            if number != SIGINT { isOver = true }
            if let running { running.cancel() } else if isOver { StandardInput.shared.cancel() }
        }
    }

    private func end() async {
        await central?.close()
        Self.current = nil
    }

    // MARK: Commands

    /// Runs a command over the shell's backend.
    func perform<Command: BackendCommand>(_ command: Command) async throws {
        let options = command.global
        guard options.choosesSameBackend(as: self.options), options.capture == nil,
            options.verbose == self.options.verbose
        else {
            throw Failure(
                .usage,
                "a shell uses one backend: put --backend, --adapter, --world, --seed, --preset, --capture and --verbose "
                    + "before \"shell\"")
        }
        let console = Console(options)
        let isFirst = central == nil
        let role = role(Command.Role.self, console, options)
        let isCentral = role === central
        defer {
            running = nil
            signals?.reset()
        }
        let result = await command.run(in: role, warns: isFirst || !isCentral) { running = $0 }
        if isCentral { await role.endCommand() } else { await role.close() }
        if case .failure = result, isFirst, let central, central.central.state != .poweredOn { self.central = nil }
        remarkOnLostLinks(besides: result)
        try command.check(result)
    }

    private func role<Role: CommandRole>(
        _ role: Role.Type, _ console: Console, _ options: GlobalOptions
    ) -> Role {
        let limit = options.timeout.duration
        guard let known = central as? Role else {
            let role = Role(backend, console: console, limit: limit)
            if let role = role as? CentralRole { adopt(role) }
            return role
        }
        known.console = console
        known.limit = limit
        return known
    }

    private func adopt(_ role: CentralRole) {
        central = role
        role.onDisconnection = { [weak self] peripheral, failure in
            guard let self else { return }
            lostLinks.append((peripheral, failure))
            if running == nil { remarkOnLostLinks() }
        }
        role.onHeard = { [weak self] peripheral in
            guard let self, !devices.contains(peripheral) else { return }
            // The limit is enough to complete names; many phones in range must not fill the memory.
            devices = (devices + [peripheral]).suffix(256)
        }
    }

    /// Reports lost links above the line that is being typed.
    ///
    /// - Parameter result: The result of a command, whose own error is not reported again.
    private func remarkOnLostLinks(besides result: Result<Void, any Error> = .success(())) {
        for (peripheral, failure) in lostLinks {
            if case .failure(let error as Failure) = result, error == failure { continue }
            let text = "\(PrintableText.of(peripheral.description)): \(failure.description)"
            if reader.isEditing { reader.interject(text) } else { central?.console.warn(text) }
        }
        lostLinks = []
    }

    // MARK: Completion

    private var completion: ShellCompletion {
        var names: [String] = []
        for peripheral in devices {
            names += [peripheral.name.map(PrintableText.of), peripheral.address].compactMap { $0 }
        }
        let connected = central?.peripherals.filter { $0.state == .connected } ?? []
        let services = connected.flatMap { central?.discovered[$0] ?? [] }
        let attributes = services.flatMap(\.characteristics).flatMap { characteristic in
            [AttributeText.standardName(characteristic.uuid), characteristic.uuid.uuidString].compactMap { $0 }
        }
        return ShellCompletion(devices: names, attributes: attributes)
    }
}

extension GlobalOptions {
    /// Returns the arguments with the shell's options after the command's name; the command's options come later and
    /// win.
    func inherited(by arguments: [String]) -> [String] {
        guard let command = arguments.first, !command.hasPrefix("-"), command != "help" else { return arguments }
        var own: [String] = ["--timeout", timeout.defaultValueDescription]
        if json { own.append("--json") }
        if timestamps { own.append("--timestamps") }
        if verbose { own.append("--verbose") }
        if !ShellCommands.withoutBackend.contains(command) {
            if let backend { own += ["--backend", backend.rawValue] }
            if let adapter { own += ["--adapter", adapter] }
            if let world { own += ["--world", world] }
            if let seed { own += ["--seed", "\(seed)"] }
            if let preset { own += ["--preset", preset] }
        }
        return [command] + own + arguments.dropFirst()
    }
}
