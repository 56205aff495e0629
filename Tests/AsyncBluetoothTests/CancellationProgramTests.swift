import AsyncBluetooth
import BluetoothBackend
import BluetoothEmulator
import BluetoothSupport
import CoreBluetooth
import CoreBluetoothTesting
import Foundation
import Synchronization
import Testing

/// Random programs with a cancellation or a timeout at each await, from a seed: nothing hangs, nothing spins, and
/// nothing is left behind.
@Suite(.timeLimit(.minutes(5))) struct CancellationProgramTests {
    private static let operations = 60
    /// The limit for programs, which need some thousands of jobs.
    ///
    /// A program that never stops ends with `EmulatorError.tasksUnsettled`.
    private static let jobLimit = 200_000

    @Test(arguments: Array(UInt64(1)...40))
    func whateverIsCancelledEverythingReturnsAndNothingIsLeft(seed: UInt64) async throws {
        var configuration = EmulatorConfiguration.default
        configuration.traceLimit = 100_000
        let emulator = Emulator(configuration: configuration, time: .virtual, seed: seed)
        let fixture = Fixture(emulator)
        let device = try emulator.add(.programGadget)
        let outcomes = Outcomes()
        let left = try await fixture.run(within: .seconds(100_000)) { () -> Remains in
            let participants = try await Participants(fixture, device)
            try await Self.run(seed, participants, outcomes)
            return try await participants.end()
        }
        #expect(emulator.activity.taskCount < Self.jobLimit, "seed \(seed): something spins")
        #expect(outcomes.count == Self.operations, "seed \(seed): an operation did not return")
        #expect(outcomes.surprises.isEmpty, "seed \(seed): \(outcomes.surprises)")
        try await emulator.advance(by: .seconds(60))
        #expect(left.objects.filter { !$0.isGone }.map(\.name) == [], "seed \(seed): objects stay alive")
        #expect(device.connectionCount == 0, "seed \(seed): the link outlives its peripheral")
        #expect(device.subscriberCount(of: "FFF1") + device.subscriberCount(of: "FFF2") == 0, "seed \(seed)")
        let trace = TraceBalance(emulator.trace.map(\.description))
        #expect(!trace.isScanning, "seed \(seed): a scan goes on")
        #expect(trace.services.isEmpty, "seed \(seed): services stay published: \(trace.services)")
        #expect(trace.channels.isEmpty, "seed \(seed): channels stay published: \(trace.channels)")
        #expect(!trace.isAdvertising, "seed \(seed): advertising goes on")
    }

    private static func run(_ seed: UInt64, _ participants: Participants, _ outcomes: Outcomes) async throws {
        var random = SeededNumbers(state: seed)
        let clock = participants.fixture.emulator.swiftClock
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<operations {
                let choices = (0..<6).map { _ in random.next() }
                group.addTask {
                    try await clock.sleep(for: .milliseconds(Int(choices[0] % 20_000)))
                    outcomes.record(await Self.outcome(choices, participants, clock), of: number)
                }
            }
            for _ in 0..<10 {
                let choices = (0..<2).map { _ in random.next() }
                group.addTask {
                    try await clock.sleep(for: .milliseconds(Int(choices[0] % 20_000)))
                    await Self.disturb(choices[1], participants)
                }
            }
            try await group.waitForAll()
        }
        participants.fixture.emulator.host.setPower(true)
        participants.fixture.emulator.host(named: "peripheral 1")?.setPower(true)
        participants.device.setProximity(.near)
        try await clock.sleep(for: .seconds(5))
    }

    /// Runs one operation and interrupts it: by a timeout, by a cancellation, before its first step, or late.
    private static func outcome(
        _ choices: [UInt64], _ participants: Participants, _ clock: EmulatorClock
    ) async -> (any Error)? {
        let limit = Duration.milliseconds(choices[2] % 8 == 0 ? 0 : Int(choices[2] % 4_000))
        let operation = ProgramOperation.all[Int(choices[1] % UInt64(ProgramOperation.all.count))]
        do {
            switch choices[3] % 3 {
            case 0:
                try await withTimeout(.seconds(60), clock: clock) { try await operation.run(participants, choices[4]) }
            case 1: try await withTimeout(limit, clock: clock) { try await operation.run(participants, choices[4]) }
            default:
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await operation.run(participants, choices[4]) }
                    try await clock.sleep(for: limit)
                    group.cancelAll()
                    try await group.waitForAll()
                }
            }
            return nil
        } catch {
            return error
        }
    }

    /// Disturbs the link or the adapter.
    private static func disturb(_ choice: UInt64, _ participants: Participants) async {
        let peripheral = participants.peripheral
        let serversHost = participants.fixture.emulator.host(named: "peripheral 1")
        switch choice % 8 {
        case 0: participants.device.disconnect()
        case 1: participants.device.reset()
        case 2: await peripheral.disconnect()
        case 3: participants.device.failNextConnections()
        case 4: participants.fixture.emulator.host.setPower(choice & 64 == 0)
        case 5: serversHost?.setPower(choice & 64 == 0)
        case 6: (choice & 64 == 0 ? serversHost : participants.fixture.emulator.host)?.reset(for: .seconds(1))
        default: participants.device.setProximity(choice & 64 == 0 ? .outOfRange : .near)
        }
    }
}
