#if BlueZ
import BluetoothSupport
import CoreBluetooth
import EmulatedBlueZ
import RandomPrograms
import ScriptedBlueZ
import Testing

/// Random programs on the BlueZ backend, in each of which the daemon is killed, or the adapter is unplugged, at a
/// random step: no rule is broken, and the next state of the adapter is that of a working one.
///
/// `make test` runs a few. `make fault-programs` runs 1,000 with each fault, in a separate process, and measures it.
@Suite(.serialized, .enabled(if: !BlueZFixture.isChosen, "needs no adapter")) struct FaultyProgramTests {
    enum Fault: String, CaseIterable {
        case daemonDeaths = "daemon deaths"
        case adapterRemovals = "adapter removals"

        /// The steps to insert into a program.
        var steps: [ProgramStep] {
            switch self {
            case .daemonDeaths: [.reset]
            case .adapterRemovals: [.plug(false), .wait(milliseconds: 1_000), .plug(true)]
            }
        }
    }

    private static let environment = ProcessInfo.processInfo.environment
    private static let wanted = environment["COREBLUETOOTH_FAULT_PROGRAMS"].flatMap { UInt64($0) }
    private static let firstSeed = environment["COREBLUETOOTH_FAULT_SEED"].flatMap { UInt64($0) } ?? 1
    /// The number of concurrent programs, because most of a program is waiting.
    private static let machines: UInt64 = 4

    /// Returns a random program with the fault in it.
    ///
    /// It has no steps of authorization, which only Apple's platforms have.
    private static func program(_ seed: UInt64, _ fault: Fault) -> Program {
        var program = Program(randomFrom: seed)
        program.steps.removeAll { if case .authorize = $0 { true } else { false } }
        var random = SeededGenerator(seed: seed, stream: "fault")
        let point = Int(random.below(UInt64(program.steps.count)))
        program.steps.insert(contentsOf: fault.steps, at: point)
        return program
    }

    @Test(arguments: Fault.allCases) func randomProgramsBreakNoRuleWhateverTheMachineDoes(_ fault: Fault) async throws {
        guard let wanted = Self.wanted else {
            #expect(try await Self.run(fault, Self.firstSeed..<Self.firstSeed + 8) > 50)
            return
        }
        // The first programs fill pools and caches.
        let first = Self.firstSeed + 20
        _ = try await Self.run(fault, Self.firstSeed..<first)
        let before = try ProcessResources()
        let callbacks = try await Self.run(fault, first..<first + wanted)
        let after = try await ProcessResources.atRest(comparedWith: before)
        print("\(wanted) \(fault.rawValue) in as many programs, \(callbacks) callbacks: from \(before) to \(after)")
        #expect(callbacks > 10 * Int(wanted))
        expectFlat(before, after)
    }

    /// - Returns: The number of callbacks.
    private static func run(_ fault: Fault, _ seeds: Range<UInt64>) async throws -> Int {
        try await withThrowingTaskGroup { group in
            for machine in 0..<machines {
                group.addTask {
                    var callbacks = 0
                    for seed in seeds where seed % machines == machine { callbacks += try await run(fault, seed) }
                    return callbacks
                }
            }
            return try await group.reduce(0, +)
        }
    }

    private static func run(_ fault: Fault, _ seed: UInt64) async throws -> Int {
        let program = program(seed, fault)
        let dialect = BlueZDialect.allCases[Int(seed) % BlueZDialect.allCases.count]
        let place = ServedProgramPlace(try await EmulatedBlueZFixture(dialect))
        let result = try await ProgramRun(program, in: place).run()
        if !result.violations.isEmpty {
            Issue.record(
                """
                COREBLUETOOTH_FAULT_SEED=\(seed), \(fault.rawValue), bluez \(dialect.rawValue):
                \(result.violations.joined(separator: "\n"))
                \(program.code)
                """)
        }
        return result.callbacks
    }
}
#endif
