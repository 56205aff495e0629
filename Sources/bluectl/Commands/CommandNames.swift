import ArgumentParser

/// The words that may stand where a command's name is wanted.
struct CommandNames {
    /// The commands, then their aliases.
    let all: [String]

    init(of root: any ParsableCommand.Type) {
        let commands = root.configuration.subcommands.map { $0.configuration }
        all = commands.compactMap { $0.commandName } + commands.flatMap { $0.aliases }
    }

    /// Checks that the first word, or that behind `help`, is a command.
    ///
    /// - Throws: A usage failure with the command that may be meant.
    func check(_ arguments: [String]) throws(Failure) {
        let words = arguments.first == "help" ? arguments.dropFirst() : arguments[...]
        guard let word = words.first, !word.hasPrefix("-"), word != "help", !all.contains(word) else { return }
        let suggestion = Suggestion.text(for: word, among: all)
        let advice = suggestion.isEmpty ? "; \"bluectl --help\" lists them" : suggestion
        throw Failure(.usage, "there is no command \"\(PrintableText.of(word))\"" + advice)
    }
}
