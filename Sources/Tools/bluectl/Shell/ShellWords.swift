import ArgumentParser
import BluetoothProfiles
import Foundation

/// The words of a line, as a shell splits it.
enum ShellWords {
    /// Splits at spaces; quotes and `\` keep them, `#` at the beginning of a word begins a comment.
    ///
    /// - Throws: A usage failure for a quote that is not closed.
    static func split(_ line: String) throws(Failure) -> [String] {
        let splitter = Splitter(line)
        guard splitter.quote == nil, !splitter.isEscaped else {
            throw Failure(.usage, "a quotation mark is not closed")
        }
        return splitter.words + splitter.finishedWord
    }

    /// Returns the complete words before the cursor, and the one that is being typed, without its quotes.
    static func typed(_ text: String) -> (words: [String], current: String) {
        let splitter = Splitter(text)
        return (splitter.words, splitter.isComment ? "" : splitter.word ?? "")
    }

    /// Returns a word as it is typed, with quotes if it needs them.
    static func quoted(_ word: String) -> String {
        let isPlain = !word.isEmpty && !word.hasPrefix("#") && !word.contains { " \t\"'\\".contains($0) }
        guard !isPlain else { return word }
        return "\"" + word.map { "\"\\".contains($0) ? "\\\($0)" : String($0) }.joined() + "\""
    }

    private struct Splitter {
        var words: [String] = []
        var word: String?
        var quote: Character?
        var isEscaped = false
        var isComment = false

        init(_ text: String) {
            for character in text where !isComment { append(character) }
        }

        private mutating func append(_ character: Character) {
            if isEscaped {
                isEscaped = false
                word = (word ?? "") + String(character)
            } else if character == "\\", quote != "'" {
                isEscaped = true
                word = word ?? ""
            } else if let open = quote {
                if character == open { quote = nil } else { word = (word ?? "") + String(character) }
            } else if character == "\"" || character == "'" {
                quote = character
                word = word ?? ""
            } else if character.isWhitespace {
                words += finishedWord
                word = nil
            } else if character == "#", word == nil {
                isComment = true
            } else {
                word = (word ?? "") + String(character)
            }
        }

        var finishedWord: [String] { word.map { [$0] } ?? [] }
    }
}

struct ShellCompletion {
    let devices: [String]
    let attributes: [String]

    /// The commands whose words after DEVICE name a characteristic.
    private static let attributeCommands: Set<String> = ["read", "get", "write", "put", "subscribe", "sub", "notify"]

    /// Returns the candidates, sorted, each once.
    ///
    /// - Parameters:
    ///   - words: The words before the one that is being typed.
    ///   - word: Its characters so far.
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
            return StandardProfile.allValueStrings
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

    private static func options(in help: String) -> [String] {
        help.matches(of: #/--[a-z][a-z-]*/#).map { String($0.output) }
    }
}
