import ArgumentParser

/// Parses a command, runs it, and tells why it failed.
@MainActor
struct CommandRunner {
    /// The commands that there are.
    let root: any ParsableCommand.Type
    /// Where the line stands, for errors: `setup.txt:3`; empty at the command line.
    var place = ""

    /// Runs the command that the arguments name.
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
            // Said already.
            return ExitStatus(rawValue: code.rawValue) ?? .failed
        } catch {
            return report(parsing: error, console)
        }
    }

    nonisolated private static func run(_ command: any AsyncParsableCommand) async throws {
        var command = command
        try await command.run()
    }

    private func report(_ failure: Failure, _ console: Console) -> ExitStatus {
        let text = place.isEmpty ? failure.description : "\(place): \(failure.description)"
        console.error(Failure(failure.status, text))
        return failure.status
    }

    /// What the parser has to say: help for standard output, mistakes for standard error.
    private func report(parsing error: any Error, _ console: Console) -> ExitStatus {
        let code = root.exitCode(for: error)
        if code == .success {
            console.print(root.fullMessage(for: error))
            return .done
        }
        guard code == .validationFailure else { return report(Failure(.failed, ErrorText.of(error)), console) }
        let line = root.message(for: error).split(separator: "\n").joined(separator: " ")
        return report(Failure(.usage, line), console)
    }

    /// Whether `--json` is asked for, where the arguments could not be parsed.
    static func isJSON(_ arguments: [String]) -> Bool {
        arguments.prefix { $0 != "--" }.contains("--json")
    }
}
