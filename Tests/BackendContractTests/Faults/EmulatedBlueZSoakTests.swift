#if BlueZ
import BluetoothSupport
import CoreBluetooth
import EmulatedBlueZ
import ScriptedBlueZ
import Testing

/// The BlueZ backend while a daemon is killed and an adapter is unplugged, a thousand times each.
///
/// It needs a separate process: `make soak`.
@Suite(.serialized, .enabled(if: ProcessInfo.processInfo.environment["SOAK"] == "1", "make soak"))
struct EmulatedBlueZSoakTests {
    private static let rounds = 1_000
    /// The number of concurrent machines, because most of a round is waiting.
    private static let machines = 4

    @Test func aThousandDeathsOfTheDaemonAtRandomMoments() async throws {
        try await survive("deaths", seed: 1) { fixture, isOver in
            try await fixture.perform(.daemon(isRunning: isOver))
        }
    }

    @Test func aThousandAdaptersThatAreUnpluggedAtRandomMoments() async throws {
        try await survive("unplugged adapters", seed: 2) { fixture, isOver in fixture.setPlugged(isOver) }
    }

    private typealias Fault = @Sendable (_ fixture: EmulatedBlueZFixture, _ isOver: Bool) async throws -> Void

    private func survive(_ what: String, seed: UInt64, fault: @escaping Fault) async throws {
        // The first rounds fill pools and caches.
        try await Self.run(what, seed: seed, rounds: 20, fault)
        let before = try ProcessResources()
        try await Self.run(what, seed: seed, rounds: Self.rounds / Self.machines, fault)
        let after = try await ProcessResources.atRest(comparedWith: before)
        print("soak: \(Self.rounds) \(what), from \(before) to \(after)")
        expectFlat(before, after)
    }

    private static func run(_ what: String, seed: UInt64, rounds: Int, _ fault: @escaping Fault) async throws {
        try await withThrowingTaskGroup { group in
            for machine in 0..<UInt64(machines) {
                group.addTask { try await runMachine(what, seed: seed &+ machine << 32, rounds: rounds, fault) }
            }
            try await group.waitForAll()
        }
    }

    /// Runs an app, its daemon and the bus between them: in each round, the app performs a part of a conversation, the
    /// fault occurs at a random moment, and the app continues after it.
    private static func runMachine(_ what: String, seed: UInt64, rounds: Int, _ fault: Fault) async throws {
        let fixture = try await EmulatedBlueZFixture(.bluez5_66)
        let context = ContractContext(ScenarioRun("soak", on: fixture))
        var random = SeededGenerator(seed: seed, stream: what)
        for round in 0..<rounds {
            try await context.powerOn()
            let point = Int(random.below(UInt64(Conversation.points.count))) + 1
            try await Conversation(context, writing: Data([UInt8(truncatingIfNeeded: round)])).go(through: point)
            try await RealWorldTime().advance(by: .microseconds(Int64(random.below(3_000))))
            try await fault(fixture, false)
            try await context.wait("the state of the fault, seed \(seed), round \(round)") { [trace = context.trace] in
                trace.states.last == .resetting || trace.states.last == .unsupported
            }
            try await fault(fixture, true)
            try await context.powerOn()
            context.skipAll()
        }
        try await Conversation(context, writing: Data([1])).go()
    }
}
#endif
