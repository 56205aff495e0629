import ArgumentParser
import Foundation

/// What a word in a shell can become.
struct ShellCompletion {
    /// Names and addresses of devices.
    let devices: [String]
    /// Names and UUIDs of characteristics of connected devices.
    let attributes: [String]

    /// The commands whose words after DEVICE name a characteristic.
    private static let attributeCommands: Set<String> = ["read", "get", "write", "put", "subscribe", "sub", "notify"]

    /// The candidates, sorted, each once.
    ///
    /// - Parameters:
    ///   - words: The words before the one that is typed.
    ///   - word: What there is of it.
    func candidates(after words: [String], word: String) -> [String] {
        let all = all(after: words, word: word)
        return Set(all).filter { $0.lowercased().hasPrefix(word.lowercased()) }.sorted()
    }

    private func all(after words: [String], word: String) -> [String] {
        let commands = CommandNames(of: ShellCommands.self).all
        guard let name = words.first, words != ["help"] else { return commands + ["help"] }
        guard let command = Self.command(name) else { return [] }
        let help = ShellCommands.helpMessage(for: command, columns: 10_000)
        if word.hasPrefix("-") { return Self.options(in: help) }
        if ["--profile", "--service"].contains(words.last) || name == "watch" && words.count == 2 {
            return ProfileArgument.allValueStrings
        }
        guard help.contains("DEVICE"), name != "serve" else { return [] }
        let positional = words.dropFirst().filter { !$0.hasPrefix("-") }
        if positional.isEmpty { return devices }
        return Self.attributeCommands.contains(name) ? attributes : []
    }

    private static func command(_ name: String) -> (any ParsableCommand.Type)? {
        ShellCommands.configuration.subcommands.first { command in
            let configuration = command.configuration
            return configuration.commandName == name || configuration.aliases.contains(name)
        }
    }

    /// The options that a help text names.
    private static func options(in help: String) -> [String] {
        help.matches(of: #/--[a-z][a-z-]*/#).map { String($0.output) }
    }
}
