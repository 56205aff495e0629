import ArgumentParser
import BluetoothSupport
import Foundation

struct CompletionsCommand: AsyncParsableCommand, Sendable {
    static let configuration = CommandConfiguration(
        commandName: "completions",
        abstract: "Print or install the completions of a shell.",
        discussion: """
            With --install, the file is $XDG_DATA_HOME (or ~/.local/share)/bash-completion/completions/bluectl for \
            bash, $XDG_CONFIG_HOME (or ~/.config)/fish/completions/bluectl.fish for fish, and ~/.zfunc/_bluectl for \
            zsh, where .zshrc must extend fpath before compinit: fpath+=~/.zfunc. Completions work in new shells.
            """)

    enum Shell: String, CaseIterable, ExpressibleByArgument, Sendable {
        case bash, zsh, fish

        var completion: CompletionShell {
            switch self {
            case .bash: .bash
            case .zsh: .zsh
            case .fish: .fish
            }
        }

        /// Returns the user's file for the completions of `bluectl`.
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

    @Flag(help: "Install them for the user, and print the path of the file.")
    var install = false

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    func validate() throws {
        try global.refuseDeviceOptions()
        if global.timestamps, !global.json, !install {
            throw ValidationError("a script has no times: omit --timestamps")
        }
    }

    @MainActor
    func run() async throws {
        let console = Console(global)
        let script = Bluectl.completionScript(for: shell.completion)
        guard install else { return console.show(["shell": shell.rawValue, "script": script], [script]) }
        guard let file = shell.file(ProcessInfo.processInfo.environment) else {
            throw Failure(.failed, "HOME is not set: print the completions and install them by hand")
        }
        do {
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try (script + "\n").write(to: file, atomically: true, encoding: .utf8)
        } catch {
            throw Failure(.failed, "\(file.path): \(error.fileReason)")
        }
        console.show(["shell": shell.rawValue, "file": file.path], [file.path])
    }
}
