#if os(Linux)
import CoreBluetooth
import ScriptedBlueZ
import Testing

/// Faults that only BlueZ has: killed daemons, unplugged controllers, other programs, many cycles.
///
/// `make test-bluez-full` runs them, with `CONTRACT_FAULTS=1` and the variables of `ContractTests`.
@Suite(.serialized, .enabled(if: FaultRun.isWanted, "needs BlueZ: make test-bluez-full"))
struct FaultTests {
    private let fixture: BlueZFixture
    private let context: ContractContext

    init() async throws {
        fixture = try BlueZFixture()
        try await fixture.begin()
        context = ContractContext(ScenarioRun("fault", on: fixture))
    }

    /// Waits for the state that a fault causes, and checks that a conversation succeeds after the repair.
    private func recover(from states: Set<CBManagerState>, by repair: () async throws -> Void) async throws {
        try await context.wait("the state of the fault") { [trace = context.trace] in
            trace.states.last.map(states.contains) ?? false
        }
        context.skipAll()
        try await repair()
        try await context.powerOn()
        try await Conversation(context, writing: Data([2])).go()
        context.finish()
    }

    @Test(arguments: Conversation.points) func aKilledDaemonComesBackAtAnyPointOfAConversation(
        _ point: Int
    ) async throws {
        try await context.powerOn()
        try await Conversation(context, writing: Data([1])).go(through: point)
        try await fixture.perform(.daemon(isRunning: false))
        try await recover(from: [.resetting, .unsupported]) { try await fixture.perform(.daemon(isRunning: true)) }
    }

    @Test(arguments: [2, 4, 9, 11, 15]) func powerThatAnotherProgramSwitchesComesBack(_ point: Int) async throws {
        try await context.powerOn()
        try await Conversation(context, writing: Data([1])).go(through: point)
        try await fixture.perform(.adapter(isPowered: false))
        try await recover(from: [.poweredOff]) { try await fixture.perform(.adapter(isPowered: true)) }
    }

    @Test(arguments: [2, 4, 11, 15]) func anUnpluggedControllerComesBack(_ point: Int) async throws {
        try await context.powerOn()
        try await Conversation(context, writing: Data([1])).go(through: point)
        try await fixture.perform(.controller(isPresent: false))
        try await recover(from: [.resetting, .unsupported]) { try await fixture.perform(.controller(isPresent: true)) }
    }

    @Test func aPeerThatIsGoneInMidReadEndsTheLinkOnce() async throws {
        let (peripheral, service) = try await context.connect(discovering: .main)
        try await fixture.perform(.hold(true))
        peripheral.readValue(for: try service.characteristic(.stored))
        try await fixture.perform(.awaitHeldRead)
        try await fixture.perform(.lose(stays: false))
        try await context.skip(.didDisconnect(), isFailure: true)
        try await fixture.perform(.hold(false))
        try await fixture.perform(.advertise(.contract, true))
        try await Conversation(context, writing: Data([1])).go()
        context.finish()
    }

    @Test func anotherProgramMayScanAndConnectMeanwhile() async throws {
        try await fixture.perform(.advertise(.second, true))
        try await fixture.perform(.competitor(isActive: true))
        for round in UInt8(1)...5 { try await Conversation(context, writing: Data([round])).go() }
        try await fixture.perform(.competitor(isActive: false))
        context.finish()
    }

    /// Runs a hundred cycles, or `CONTRACT_CYCLES`.
    @Test func manyCyclesLeaveNothingBehind() async throws {
        let observer = try await BusObserver.onSystemBus()
        var before = try await observer.count()
        for cycle in 0..<10 + FaultRun.cycles {
            // The first cycles fill pools and caches.
            if cycle == 10 { before = try await observer.count() }
            try await Conversation(context, writing: Data([UInt8(truncatingIfNeeded: cycle)])).go()
        }
        let after = try await observer.count()
        print("soak: \(FaultRun.cycles) cycles, from \(before) to \(after)")
        #expect(after.process.descriptors <= before.process.descriptors)
        #expect(after.process.threads <= before.process.threads + 2, "Dispatch's pools breathe")
        #expect(after.process.memory - before.process.memory < 4096)
        #expect(after.matchRules == before.matchRules)
        context.finish()
    }
}

/// The selection of the environment.
enum FaultRun {
    static let isWanted = ProcessInfo.processInfo.environment["CONTRACT_FAULTS"] == "1"
    static let cycles = ProcessInfo.processInfo.environment["CONTRACT_CYCLES"].flatMap { Int($0) } ?? 100
}

/// A fault on BlueZ's machine.
enum MachineFault: Sendable {
    case controller(isPresent: Bool)
    /// `bluetoothctl` scans, and repeatedly connects to the peer "second" and disconnects.
    case competitor(isActive: Bool)

    var json: [String: Any] {
        switch self {
        case .controller(let isPresent): ["action": "controller", "present": isPresent]
        case .competitor(let isActive): ["action": "competitor", "active": isActive]
        }
    }
}
#endif
