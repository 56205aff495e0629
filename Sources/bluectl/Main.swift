import ArgumentParser
import Foundation

/// The process: parses, runs, and ends with a status that scripts rely on.
@main
enum Main {
    static func main() async {
        exit(await run(Array(CommandLine.arguments.dropFirst())).rawValue)
    }

    /// Runs the command that the arguments name.
    @MainActor
    static func run(_ arguments: [String]) async -> ExitStatus {
        let console = Console(isJSON: isJSON(arguments))
        do {
            var command = try Bluectl.parseAsRoot(ArgumentOrder.commandFirst(arguments))
            if let asynchronous = command as? any AsyncParsableCommand {
                try await run(asynchronous)
            } else {
                try command.run()
            }
            return .done
        } catch let failure as Failure {
            console.error(failure)
            return failure.status
        } catch let code as ExitCode {
            // Said already.
            return ExitStatus(rawValue: code.rawValue) ?? .failed
        } catch {
            return report(error, console)
        }
    }

    private static func run(_ command: any AsyncParsableCommand) async throws {
        var command = command
        try await command.run()
    }

    /// What the parser has to say: help for standard output, mistakes for standard error.
    @MainActor
    private static func report(_ error: any Error, _ console: Console) -> ExitStatus {
        let code = Bluectl.exitCode(for: error)
        if code == .success {
            console.print(Bluectl.fullMessage(for: error))
            return .done
        }
        guard code == .validationFailure else {
            console.error(Failure(.failed, ErrorText.of(error)))
            return .failed
        }
        let line = Bluectl.message(for: error).split(separator: "\n").joined(separator: " ")
        console.error(Failure(.usage, line))
        return .usage
    }

    /// Whether `--json` is asked for, where the arguments could not be parsed.
    static func isJSON(_ arguments: [String]) -> Bool {
        arguments.prefix { $0 != "--" }.contains("--json")
    }
}
