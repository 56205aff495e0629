import AsyncBluetooth
import BluetoothEmulator
import BluetoothSupport
import CoreBluetooth
import CoreBluetoothTesting
import Foundation
import Synchronization
import Testing

/// Random operations, cancellations, timeouts and link losses, each run from its seed.
@Suite(.emulator(.default)) struct PropertyTests {
    /// A sequence of random numbers from a seed.
    ///
    /// Source: Steele, Lea and Flood, SplitMix64.
    private struct Random: RandomNumberGenerator, Sendable {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
    }

    /// The outcome of each operation.
    private final class Outcomes: Sendable {
        private let counts = Lock<[String: Int]>([:])
        func record(_ outcome: String) { counts.withLock { $0[outcome, default: 0] += 1 } }
        var total: Int { counts.withLock { $0.values.reduce(0, +) } }
        subscript(_ outcome: String) -> Int { counts.withLock { $0[outcome] ?? 0 } }
    }

    private static let operations = 60

    @Test(arguments: Array(UInt64(1)...24))
    func everyOperationReturnsOnceAndNothingIsLeft(seed: UInt64) async throws {
        let fixture = Fixture()
        let (device, peripheral) = try await fixture.find(.gadget)
        let outcomes = Outcomes()
        try await fixture.run(within: .seconds(100_000)) {
            try await Self.run(seed, peripheral, device, fixture, outcomes)
        }
        #expect(outcomes.total == Self.operations, "seed \(seed)")
        #expect(outcomes["another error"] == 0, "seed \(seed)")
        try await fixture.emulator.advance(by: .seconds(60))
        #expect(device.subscriberCount(of: "FFF1") == 0, "seed \(seed)")
        #expect(device.subscriberCount(of: "FFF2") == 0, "seed \(seed)")
        // An operation that works afterwards shows that no command is stuck. The device may still owe some failures.
        let value = try await fixture.run { () -> Data in
            for _ in 0..<8 {
                do {
                    try await peripheral.connect()
                    break
                } catch is BluetoothError {}
            }
            try await peripheral.write(Data([0x2A]), to: "FFF0/FFF1")
            return try await peripheral.read("FFF0/FFF1")
        }
        #expect(value == Data([0x2A]), "seed \(seed)")
        try await fixture.run { await peripheral.disconnect() }
    }

    private static func run(
        _ seed: UInt64, _ peripheral: Peripheral, _ device: EmulatedDevice, _ fixture: Fixture, _ outcomes: Outcomes
    ) async throws {
        var random = Random(state: seed)
        let clock = fixture.emulator.swiftClock
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<operations {
                let choices = (0..<6).map { _ in random.next() }
                group.addTask {
                    try await clock.sleep(for: .milliseconds(Int(choices[0] % 20_000)))
                    outcomes.record(await Self.outcome(choices, peripheral, clock))
                }
            }
            for _ in 0..<8 {
                let choices = (0..<2).map { _ in random.next() }
                group.addTask {
                    try await clock.sleep(for: .milliseconds(Int(choices[0] % 20_000)))
                    await Self.disturb(choices[1], peripheral, device, fixture)
                }
            }
            try await group.waitForAll()
        }
        fixture.emulator.host.setPower(true)
        device.setProximity(.near)
        try await clock.sleep(for: .seconds(1))
    }

    /// Runs one operation, perhaps with a timeout or a cancellation.
    private static func outcome(
        _ choices: [UInt64], _ peripheral: Peripheral, _ clock: EmulatorClock
    ) async -> String {
        let limit = Duration.milliseconds(Int(choices[2] % 4_000))
        do {
            switch choices[3] % 3 {
            case 0: try await withTimeout(.seconds(60), clock: clock) { try await operate(choices, peripheral) }
            case 1: try await withTimeout(limit, clock: clock) { try await operate(choices, peripheral) }
            default:
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await operate(choices, peripheral) }
                    try await clock.sleep(for: limit)
                    group.cancelAll()
                    try await group.waitForAll()
                }
            }
            return "done"
        } catch is CancellationError {
            return "cancelled"
        } catch is BluetoothError {
            return "failed"
        } catch {
            return "another error"
        }
    }

    private static func operate(_ choices: [UInt64], _ peripheral: Peripheral) async throws {
        let byte = Data([UInt8(truncatingIfNeeded: choices[4])])
        switch choices[1] % 8 {
        case 0, 1: _ = try await peripheral.read("FFF0/FFF1")
        case 2: try await peripheral.write(byte, to: "FFF0/FFF1")
        case 3: for _ in 0..<30 { try await peripheral.writeWithoutResponse(byte, to: "FFF0/FFF2") }
        case 4: _ = try await peripheral.exchange(byte, writingTo: "FFF0/FFF1", notifiedBy: "FFF0/FFF1")
        case 5: _ = try await peripheral.readRSSI()
        case 6: _ = try await peripheral.characteristics(of: "FFF0")
        default:
            for try await _ in peripheral.notifications(of: choices[5] % 2 == 0 ? "FFF0/FFF1" : "FFF0/FFF2") {
                if choices[4] % 2 == 0 { break }
            }
        }
    }

    /// Disturbs the link.
    private static func disturb(
        _ choice: UInt64, _ peripheral: Peripheral, _ device: EmulatedDevice, _ fixture: Fixture
    ) async {
        switch choice % 6 {
        case 0: device.disconnect()
        case 1: device.reset()
        case 2: await peripheral.disconnect()
        case 3: device.failNextConnections()
        case 4: fixture.emulator.host.setPower(choice & 64 == 0)
        default: device.setProximity(choice & 64 == 0 ? .outOfRange : .near)
        }
    }
}
