import BluetoothBackend
import BluetoothInstrumentation
import ChildProcesses
import Foundation
import RandomPrograms
import Testing

@Suite struct RandomProgramTests {
    /// The number of programs in one test case; `COREBLUETOOTH_PROGRAMS` sets the total number.
    private static let batch: UInt64 = 100
    private static let batches: UInt64 = {
        let wanted = ProcessInfo.processInfo.environment["COREBLUETOOTH_PROGRAMS"].flatMap { UInt64($0) } ?? 300
        return max(1, wanted / batch)
    }()

    @Test(arguments: 0..<batches) func randomProgramsBreakNoRule(_ number: UInt64) async throws {
        var callbacks = 0
        for seed in (number * Self.batch)..<((number + 1) * Self.batch) {
            let program = Program(randomFrom: seed)
            let result = try await ProgramRun(program).run()
            callbacks += result.callbacks
            guard let violation = result.violations.first else { continue }
            let smallest = try await ProgramShrinker.shrink(program, breaking: violation)
            Issue.record("\(violation)\n\(smallest.code)")
        }
        #expect(callbacks > 4_000)
    }

    /// A link that another manager keeps is connected again at once; the end of the earlier connection must come first.
    @Test func aConnectionThatIsRenewedAtOnceIsEndedFirst() async throws {
        let program = Program(
            seed: 1443, configuration: 3,
            steps: [
                .connect(1, 1),
                .connect(0, 1),
                .wait(milliseconds: 1000),
                .rssi(0, 1),
                .cancel(0, 1),
                .connect(0, 1),
                .services(0, 1),
            ])
        #expect(try await ProgramRun(program).run().violations == [])
    }

    #if os(Linux)
    @Test func theSameSeedGivesTheSameTraceInAnotherProcessToo() async throws {
        var own: [String] = []
        for seed in 0...19 as ClosedRange<UInt64> {
            own += try await ProgramRun(Program(randomFrom: seed)).run().trace
        }
        let run = try await ChildProcess.run(ChildProcess.built("ProgramRunner"), ["trace", "0", "19"])
        #expect(run.status == 0)
        let theirs = run.output.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
        #expect(own == theirs)
        #expect(own.count > 1_000)
    }
    #endif

    @Test func aBrokenBackendIsFoundAndTheProgramShrunkToItsNeededSteps() async throws {
        let plan = FaultPlan(faults: [Fault(FaultPlace(.centralEvent(.valueRead)), .rate(probability: 1), .drop)])
        let fails: @Sendable (Program) async throws -> Bool = { program in
            let run = ProgramRun(program) { try FaultInjectingBackend(around: $0, plan: plan) }
            return try await run.run().violations.contains { $0.contains("never answered: read") }
        }
        var failing: Program?
        for seed in 0..<100 as Range<UInt64> where failing == nil {
            let program = Program(randomFrom: seed)
            if try await fails(program) { failing = program }
        }
        let smallest = try await ProgramShrinker.shrink(try #require(failing), while: fails)
        // The steps are connect, two discoveries and the read, with time for each.
        #expect(smallest.steps.count <= 9, "\(smallest.code)")
        #expect(smallest.code.contains(".read("))
    }
}
