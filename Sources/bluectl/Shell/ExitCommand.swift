import ArgumentParser

/// `exit`: for the list of commands and its help; the shell itself ends.
struct ExitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "exit", abstract: "End the connections and the shell.", aliases: ["quit"])
}
