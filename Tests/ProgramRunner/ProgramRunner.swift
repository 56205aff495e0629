import Foundation
import Logging
import RandomPrograms

/// A runner of random programs outside the tests.
///
/// `ProgramRunner trace FIRST LAST` prints their traces: a test compares them with its own, since the same seed gives
/// the same trace in another process. `ProgramRunner check FIRST LAST` checks the rules.
@main enum ProgramRunner {
    static func main() async throws {
        // Random programs cause thousands of mistakes that are logged.
        LoggingSystem.bootstrap { _ in SwiftLogNoOpLogHandler() }
        let arguments = CommandLine.arguments.dropFirst()
        let seeds = arguments.dropFirst().compactMap { UInt64($0) }
        guard seeds.count == 2, seeds[0] <= seeds[1] else { usage() }
        switch arguments.first {
        case "trace": try await trace(seeds[0]...seeds[1])
        case "check": try await check(seeds[0]...seeds[1])
        default: usage()
        }
    }

    private static func usage() -> Never {
        FileHandle.standardError.write(Data("usage: ProgramRunner trace|check FIRST LAST\n".utf8))
        exit(2)
    }

    private static func trace(_ seeds: ClosedRange<UInt64>) async throws {
        for seed in seeds {
            let result = try await ProgramRun(Program(randomFrom: seed)).run()
            print(result.trace.joined(separator: "\n"))
        }
    }

    // MARK: Checking

    private static let programsPerReport: UInt64 = 10_000

    /// Ends with status 1 at the first program that breaks a rule, which it prints in its smallest form.
    private static func check(_ seeds: ClosedRange<UInt64>) async throws {
        var callbacks = 0
        for seed in seeds {
            let program = Program(randomFrom: seed)
            let result = try await ProgramRun(program).run()
            callbacks += result.callbacks
            if let violation = result.violations.first {
                report("seed \(seed): \(violation)")
                report(try await ProgramShrinker.shrink(program, breaking: violation).code)
                exit(1)
            }
            let count = seed - seeds.lowerBound + 1
            if count.isMultiple(of: programsPerReport) || seed == seeds.upperBound {
                report("seeds \(seeds.lowerBound) to \(seed): no rule was broken in \(callbacks) callbacks")
            }
        }
    }

    /// Prints a line at once, also to a file, unlike `print`.
    private static func report(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
}
