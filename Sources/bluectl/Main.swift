import Foundation

/// The process: parses, runs, and ends with a status that scripts rely on.
@main
enum Main {
    static func main() async {
        let arguments = ArgumentOrder.commandFirst(Array(CommandLine.arguments.dropFirst()))
        exit(await CommandRunner(root: Bluectl.self).run(arguments).rawValue)
    }
}
