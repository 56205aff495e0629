#if BlueZ
import BluetoothSupport
import CoreBluetooth
import EmulatedBlueZ
import ScriptedBlueZ
import Testing

/// The BlueZ backend under a daemon that dies and an adapter that is unplugged, a thousand times each.
///
/// Needs the process for itself: `make soak`.
@Suite(.serialized, .enabled(if: ProcessInfo.processInfo.environment["SOAK"] == "1", "make soak"))
struct EmulatedBlueZSoakTests {
    private static let rounds = 1_000

    private let fixture: EmulatedBlueZFixture
    private let context: ContractContext

    init() async throws {
        fixture = try await EmulatedBlueZFixture(.bluez5_66)
        context = ContractContext(ScenarioRun("soak", on: fixture))
    }

    @Test func aThousandDeathsOfTheDaemonAtRandomMoments() async throws {
        try await survive("deaths", seed: 1) { isOver in try await fixture.perform(.daemon(isRunning: isOver)) }
    }

    @Test func aThousandAdaptersThatAreUnpluggedAtRandomMoments() async throws {
        try await survive("unplugged adapters", seed: 2) { isOver in fixture.setPlugged(isOver) }
    }

    /// Goes through a part of a conversation, lets the fault come at a random moment, and goes on after it.
    private func survive(_ what: String, seed: UInt64, fault: (_ isOver: Bool) async throws -> Void) async throws {
        var random = SeededGenerator(seed: seed, stream: what)
        var before = try ProcessResources()
        for round in 0..<Self.rounds {
            if round == 50 { before = try ProcessResources() }
            try await context.powerOn()
            let point = Int(random.below(UInt64(Conversation.points.count))) + 1
            try await Conversation(context, writing: Data([UInt8(truncatingIfNeeded: round)])).go(through: point)
            try await RealWorldTime().advance(by: .microseconds(Int64(random.below(3_000))))
            try await fault(false)
            try await context.wait("the state of the fault, seed \(seed), round \(round)") { [trace = context.trace] in
                trace.states.last == .resetting || trace.states.last == .unsupported
            }
            try await fault(true)
            try await context.powerOn()
            context.skipAll()
        }
        try await Conversation(context, writing: Data([1])).go()
        let after = try ProcessResources()
        print("soak: \(Self.rounds) \(what), from \(before) to \(after)")
        #expect(after.descriptors <= before.descriptors + 2)
        #expect(after.threads <= before.threads + 4, "Dispatch's pools breathe")
        #expect(after.memory - before.memory < 32_768)
    }
}
#endif
