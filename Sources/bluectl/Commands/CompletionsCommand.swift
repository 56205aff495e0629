import ArgumentParser
import Foundation

/// `bluectl completions`: what lets a shell complete commands and options.
struct CompletionsCommand: AsyncParsableCommand, Sendable {
    static let configuration = CommandConfiguration(
        commandName: "completions",
        abstract: "Print or install the completions of a shell.",
        discussion: """
            Where --install puts them: bash, $XDG_DATA_HOME (or ~/.local/share)/bash-completion/completions/bluectl; \
            fish, $XDG_CONFIG_HOME (or ~/.config)/fish/completions/bluectl.fish; zsh, ~/.zfunc/_bluectl, which \
            .zshrc has to name before compinit: fpath+=~/.zfunc. A new shell has them.
            """)

    /// The shells that can be served.
    enum Shell: String, CaseIterable, ExpressibleByArgument, Sendable {
        case bash, zsh, fish

        var completion: CompletionShell {
            switch self {
            case .bash: .bash
            case .zsh: .zsh
            case .fish: .fish
            }
        }

        /// The user's file for the completions of `bluectl`.
        func file(_ environment: [String: String]) -> URL? {
            let home = environment["HOME"].flatMap { $0.isEmpty ? nil : URL(fileURLWithPath: $0) }
            func folder(_ variable: String, _ fallback: String) -> URL? {
                let named = environment[variable].flatMap { $0.hasPrefix("/") ? URL(fileURLWithPath: $0) : nil }
                return named ?? home?.appendingPathComponent(fallback)
            }
            return switch self {
            case .bash:
                folder("XDG_DATA_HOME", ".local/share")?.appendingPathComponent("bash-completion/completions/bluectl")
            case .zsh: home?.appendingPathComponent(".zfunc/_bluectl")
            case .fish: folder("XDG_CONFIG_HOME", ".config")?.appendingPathComponent("fish/completions/bluectl.fish")
            }
        }
    }

    @Argument(help: "The shell: bash, zsh or fish.")
    var shell: Shell

    @Flag(help: "Write them where the shell looks for a user's completions, and print that place.")
    var install = false

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    func run() async throws { try await show() }

    @MainActor
    private func show() throws {
        let console = Console(isJSON: global.json)
        let script = Bluectl.completionScript(for: shell.completion)
        guard install else {
            if console.isJSON { return console.print(json: ["shell": shell.rawValue, "script": script]) }
            return console.print(script)
        }
        guard let file = shell.file(ProcessInfo.processInfo.environment) else {
            throw Failure(.failed, "HOME is not set: print the completions and put them where the shell looks")
        }
        do {
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try (script + "\n").write(to: file, atomically: true, encoding: .utf8)
        } catch {
            throw Failure(.failed, "\(file.path): \((error as NSError).localizedDescription)")
        }
        console.isJSON ? console.print(json: ["shell": shell.rawValue, "file": file.path]) : console.print(file.path)
    }
}
