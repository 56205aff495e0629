import ArgumentParser
import BluetoothSupport
import Foundation

struct ShellCommand: AsyncParsableCommand, Sendable {
    static let configuration = CommandConfiguration(
        commandName: "shell",
        abstract: "Run commands one after the other over shared connections.",
        discussion: """
            At a terminal, the shell has a prompt with history and completion; elsewhere, and with --script, each \
            line is a command. Quotes enclose words with spaces, "#" begins a comment, and "." as DEVICE means the \
            device that was connected last. All commands of bluectl are available except demo, world, view, record, \
            report, completions and shell, and in addition "connect" and "disconnect". A script ends at the first command that fails, with the exit status of \
            that command. The common options of the shell apply to its commands.
            """)

    @Option(
        help: ArgumentHelp("Run the commands in this file; \"-\" is standard input.", valueName: "FILE"),
        completion: .file())
    var script: String?

    @Flag(help: "Continue after a command that fails; the exit status is that of the last failure.")
    var keepGoing = false

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    @MainActor
    func run() async throws {
        guard Shell.current == nil else { throw Failure(.usage, "a shell is already running") }
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

/// The lines of a file, or of standard input, with their places.
@MainActor
final class Script {
    /// The size of the longest script that is read.
    private static let maximumBytes = 16_777_216

    private let name: String
    private var lines: [Substring] = []
    private let input: LineInput?
    private var number = 0

    /// Reads a file or a pipe; `-` is standard input, of which each line is read when its turn comes.
    ///
    /// - Throws: A usage failure if the file cannot be read.
    init(path: String) throws(Failure) {
        guard !StandardInput.names.contains(path) else {
            name = "standard input"
            input = LineInput()
            return
        }
        name = path
        input = nil
        do throws(InputFileError) {
            let text = try InputFile.text(of: path, atMost: Self.maximumBytes)
            lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        } catch {
            throw Failure(.usage, "\(path): the script cannot be read: \(error.reason)")
        }
    }

    /// Returns the next line and its place; nil at the end.
    func next() async -> (line: String, place: String)? {
        number += 1
        let line: String?
        if let input {
            line = await input.next()
        } else {
            line = number <= lines.count ? String(lines[number - 1]) : nil
        }
        return line.map { ($0.hasSuffix("\r") ? String($0.dropLast()) : $0, "\(name):\(number)") }
    }
}
