import Foundation
import RandomPrograms

/// Prints the traces of random programs: `ProgramTrace FIRST LAST`.
///
/// A test compares them with its own: the same seed gives the same trace in another process.
@main enum ProgramTrace {
    static func main() async throws {
        let seeds = CommandLine.arguments.dropFirst().compactMap { UInt64($0) }
        guard seeds.count == 2, seeds[0] <= seeds[1] else { fatalError("usage: ProgramTrace FIRST LAST") }
        for seed in seeds[0]...seeds[1] {
            let result = try await ProgramRun(Program(randomFrom: seed)).run()
            print(result.trace.joined(separator: "\n"))
        }
    }
}
