import ArgumentParser
import Foundation

#if Emulator && os(Linux)
import LiveView
#endif

/// The entry point; scripts rely on the exit status.
@main
enum Main {
    static func main() async {
        let arguments = ArgumentOrder.commandFirst(Array(CommandLine.arguments.dropFirst()))
        exit(await CommandRunner(root: Bluectl.self).run(arguments).rawValue)
    }
}

struct Bluectl: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bluectl",
        abstract: "Bluetooth Low Energy from the command line: scan, explore, read, write, subscribe, serve, pair.",
        usage: """
            bluectl [--backend bluez|emulator|auto] [--adapter A] [--world FILE] [--seed N] [--preset NAME] \
            [--timeout SECONDS] [--json] [--timestamps] [--capture FILE] [--verbose] COMMAND
            """,
        discussion: """
            The options of "bluectl help COMMAND" may also precede the command. A device is named by its identifier, \
            address or name. Real adapters are used through BlueZ; "--backend emulator" uses emulated devices, and \
            "bluectl demo" shows them at work.

            Exit status: 0 success, 1 failure, 2 usage error, 3 timeout; of "world run", that of its COMMAND.
            """,
        version: "1.0.0-rc.1",
        subcommands: commands)

    private static var commands: [any ParsableCommand.Type] {
        let commands: [any ParsableCommand.Type] = [
            DemoCommand.self, DoctorCommand.self, ScanCommand.self, DevicesCommand.self, InfoCommand.self,
            ExploreCommand.self, ReadCommand.self, WriteCommand.self, SubscribeCommand.self, WatchCommand.self,
            RSSICommand.self, UARTCommand.self, L2CAPCommand.self, MonitorCommand.self, ServeCommand.self,
            AdvertiseCommand.self, PairCommand.self, UnpairCommand.self, AdaptersCommand.self, ShellCommand.self,
            ReportCommand.self, CompletionsCommand.self,
        ]
        #if Emulator && os(Linux)
        return commands + [RecordCommand.self, WorldCommand.self, ViewCommand.self]
        #elseif Emulator
        return commands + [RecordCommand.self, WorldCommand.self]
        #else
        return commands
        #endif
    }
}

/// Parses a command, runs it, and prints its failure.
@MainActor
struct CommandRunner {
    let root: any ParsableCommand.Type
    /// The place of the line, for errors: `setup.txt:3`; empty on the command line.
    var place = ""

    func run(_ arguments: [String]) async -> ExitStatus {
        let console = Console(isJSON: Self.isJSON(arguments))
        do {
            try CommandNames(of: root).check(arguments)
            var command = try root.parseAsRoot(arguments)
            if let asynchronous = command as? any AsyncParsableCommand {
                try await Self.run(asynchronous)
            } else {
                try command.run()
            }
            return .done
        } catch let failure as Failure {
            return report(failure, console)
        } catch let code as ExitCode {
            // The failure was printed already.
            return ExitStatus(rawValue: code.rawValue)
        } catch {
            return report(parsing: error, console)
        }
    }

    nonisolated private static func run(_ command: any AsyncParsableCommand) async throws {
        var command = command
        try await command.run()
    }

    /// Prints a failure with the place of its line.
    func report(_ failure: Failure, _ console: Console) -> ExitStatus {
        let text = place.isEmpty ? failure.description : "\(place): \(failure.description)"
        console.error(Failure(failure.status, text))
        return failure.status
    }

    /// Prints the parser's message: help to standard output, mistakes to standard error.
    private func report(parsing error: any Error, _ console: Console) -> ExitStatus {
        #if Emulator && os(Linux)
        if let error = error as? LiveClient.ClientError { return report(Failure(error), console) }
        #endif
        let code = root.exitCode(for: error)
        if code == .success {
            // The commands of a shell have no program name in front.
            console.print(root.fullMessage(for: error).replacing("See ' help", with: "See 'help"))
            return .done
        }
        guard code == .validationFailure else { return report(Failure(.failed, ErrorText.of(error)), console) }
        let line = root.message(for: error).split(separator: "\n").joined(separator: " ")
        return report(Failure(.usage, line), console)
    }

    /// Whether the arguments contain `--json`, for arguments that could not be parsed.
    static func isJSON(_ arguments: [String]) -> Bool {
        arguments.prefix { $0 != "--" }.contains("--json")
    }
}

struct CommandNames {
    /// The commands, then their aliases.
    let all: [String]
    private let commands: [any ParsableCommand.Type]

    init(of root: any ParsableCommand.Type) {
        commands = root.configuration.subcommands
        let configurations = commands.map { $0.configuration }
        all = configurations.compactMap { $0.commandName } + configurations.flatMap { $0.aliases }
    }

    /// Checks that the first word, or the word after `help`, is a command, and the next word one of its subcommands, if
    /// it has any.
    ///
    /// - Throws: A usage failure with the nearest command.
    func check(_ arguments: [String]) throws(Failure) {
        let words = arguments.first == "help" ? arguments.dropFirst() : arguments[...]
        guard let word = words.first, !word.hasPrefix("-"), word != "help" else { return }
        guard all.contains(word) else {
            let suggestion =
                commandWithCommand(word).map { "; did you mean \"\($0)\"?" } ?? Suggestion.text(for: word, among: all)
            let advice = suggestion.isEmpty ? "; \"bluectl --help\" lists them" : suggestion
            throw Failure(.usage, "there is no command \"\(PrintableText.of(word))\"" + advice)
        }
        let command = commands.first { $0.configuration.commandName == word }
        if let command, !command.configuration.subcommands.isEmpty {
            try CommandNames(of: command).check(Array(words.dropFirst()))
        }
    }

    /// Returns the whole name of a subcommand: `world run`.
    private func commandWithCommand(_ name: String) -> String? {
        for command in commands.map({ $0.configuration }) {
            let isInner = command.subcommands.contains { $0.configuration.commandName == name }
            if isInner, let outer = command.commandName { return "\(outer) \(name)" }
        }
        return nil
    }

    /// Returns the number of words that name a command: 2 for a subcommand.
    func wordCount(of arguments: some Collection<String>) -> Int {
        let command = commands.first { $0.configuration.commandName == arguments.first }
        guard let command, !command.configuration.subcommands.isEmpty,
            let next = arguments.dropFirst().first, CommandNames(of: command).all.contains(next)
        else { return 1 }
        return 2
    }
}

/// The rearrangement that moves common options in front of a command to the place after its name.
///
/// The parser binds an option to the command that declares it. Options in front are therefore moved before the parser
/// sees them; their meaning, help and errors stay in one place.
enum ArgumentOrder {
    private static let flags: Set<String> = ["--json", "--timestamps", "--verbose"]
    private static let valued: Set<String> = [
        "--backend", "--adapter", "--world", "--seed", "--preset", "--capture", "--timeout",
    ]

    static func commandFirst(_ arguments: [String]) -> [String] {
        var end = arguments.startIndex
        while end < arguments.endIndex {
            let argument = arguments[end]
            let name = argument.split(separator: "=", maxSplits: 1).first.map { String($0) } ?? argument
            if flags.contains(argument) {
                end += 1
            } else if valued.contains(name) {
                end += name == argument ? 2 : 1
            } else {
                break
            }
        }
        guard end > arguments.startIndex, end < arguments.endIndex else { return arguments }
        let rest = arguments[end...]
        // Help describes the program or a command, without options.
        guard let command = rest.first, !command.hasPrefix("-"), command != "help" else { return Array(rest) }
        let count = CommandNames(of: Bluectl.self).wordCount(of: rest)
        return Array(rest.prefix(count) + arguments[..<end] + rest.dropFirst(count))
    }
}

enum Suggestion {
    /// `; did you mean "scan"?`, or empty text if no candidate is near.
    static func text(for word: String, among candidates: [String]) -> String {
        nearest(to: word, among: candidates).map { "; did you mean \"\($0)\"?" } ?? ""
    }

    /// Returns the candidate that takes the fewest changes of letters, ignoring case, at most a third of the word's;
    /// otherwise the one that begins with the word.
    static func nearest(to word: String, among candidates: [String]) -> String? {
        let letters = Array(word.lowercased())
        // Words from files may be long, and a word of that length is not a typing error.
        guard !letters.isEmpty, letters.count <= 64 else { return nil }
        let limit = max(1, letters.count / 3)
        let near = candidates.map { (changes(from: letters, to: Array($0.lowercased())), $0) }.min { $0.0 < $1.0 }
        if let near, near.0 <= limit { return near.1 }
        return letters.count < 2 ? nil : candidates.first { $0.lowercased().hasPrefix(word.lowercased()) }
    }

    /// Returns the number of insertions, deletions, replacements and swaps of adjacent letters that turn one word into
    /// the other.
    static func changes(from first: [Character], to second: [Character]) -> Int {
        var rows = [Array(0...second.count)]
        for (row, letter) in first.enumerated() {
            var next = [row + 1]
            for (column, other) in second.enumerated() {
                let replaced = rows[row][column] + (letter == other ? 0 : 1)
                var best = min(replaced, rows[row][column + 1] + 1, next[column] + 1)
                if row > 0, column > 0, letter == second[column - 1], first[row - 1] == other {
                    best = min(best, rows[row - 1][column - 1] + 1)
                }
                next.append(best)
            }
            rows.append(next)
        }
        return rows[first.count][second.count]
    }
}
