import ArgumentParser

/// `bluectl shell`: commands over one radio, typed or from a script.
struct ShellCommand: AsyncParsableCommand, Sendable {
    static let configuration = CommandConfiguration(
        commandName: "shell",
        abstract: "Run commands one after the other; connections last from one to the next.",
        discussion: """
            At a terminal a prompt with history and completion; elsewhere, and with --script, one command a line. \
            Words with spaces stand in quotes, "#" begins a comment, "." as DEVICE means the one that was connected \
            last. "connect" and "disconnect" are there besides the commands of bluectl; "demo" and "completions" are \
            not. A script ends at the first line that fails, with that line's exit status. The common options of the \
            shell are those of its commands.
            """)

    @Option(
        help: ArgumentHelp("Run the lines of this file; \"-\" is standard input.", valueName: "FILE"),
        completion: .file())
    var script: String?

    @Flag(help: "Go on after a line that fails; the exit status is that of the last one that did.")
    var keepGoing = false

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    func run() async throws { try await start() }

    @MainActor
    private func start() async throws {
        guard Shell.current == nil else { throw Failure(.usage, "this is a shell already") }
        let lines = try script.map { path throws(Failure) in try Script(path: path) }
        global.prepareProcess()
        let shell = try Shell(global)
        if lines == nil, StandardInput.shared.isTerminal, StandardStream.output.isTerminal {
            return await shell.runInteractively()
        }
        let status = await shell.run(script: try lines ?? Script(path: "-"), keepsGoing: keepGoing)
        if status != .done { throw ExitCode(status.rawValue) }
    }
}
