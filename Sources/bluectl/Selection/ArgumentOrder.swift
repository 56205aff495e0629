/// Options that every command has may stand before the command as well as after it.
///
/// The parser binds an option to the command that declares it. So those in front are moved behind the command's name
/// before it sees them; their meaning, help and errors stay in one place.
enum ArgumentOrder {
    private static let flags: Set<String> = ["--json", "--timestamps", "--verbose"]
    private static let valued: Set<String> = ["--backend", "--adapter", "--world", "--timeout"]

    /// The arguments with the command's name first, where there is one.
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
        // Help is about the program or a command, with no options of its own.
        guard let command = rest.first, !command.hasPrefix("-"), command != "help" else { return Array(rest) }
        return [command] + arguments[..<end] + rest.dropFirst()
    }
}
