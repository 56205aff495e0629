import BluetoothEmulator
import CoreBluetooth
import Dispatch

/// The way in which time passes in the world of a fixture.
protocol WorldTime: Sendable {
    /// Returns when so much time has passed.
    func advance(by duration: Duration) async throws

    /// Returns when a condition is true.
    ///
    /// - Throws: ``ContractTimeout`` when it is not in time.
    func advance(until condition: @escaping @Sendable () -> Bool) async throws
}

/// Time that the fixture drives.
struct VirtualWorldTime: WorldTime {
    let emulator: Emulator

    func advance(by duration: Duration) async throws { try await emulator.advance(by: duration) }

    func advance(until condition: @escaping @Sendable () -> Bool) async throws {
        do {
            try await emulator.advance(until: condition, within: .seconds(120))
        } catch EmulatorError.conditionNotMet {
            throw ContractTimeout()
        }
    }
}

/// Time that passes by itself: that of a daemon in real time.
struct RealWorldTime: WorldTime {
    /// Far more than any step takes, also on a crowded machine.
    private static let deadline = Duration.seconds(20)
    private static let pause = DispatchTimeInterval.milliseconds(2)

    func advance(by duration: Duration) async throws {
        let end = ContinuousClock.now + duration
        try await advance(until: { ContinuousClock.now >= end })
    }

    func advance(until condition: @escaping @Sendable () -> Bool) async throws {
        let deadline = ContinuousClock.now + Self.deadline
        while !condition() {
            guard ContinuousClock.now < deadline else { throw ContractTimeout() }
            await withCheckedContinuation { continuation in
                DispatchQueue.global().asyncAfter(deadline: .now() + Self.pause) { continuation.resume() }
            }
        }
    }
}
