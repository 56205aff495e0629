import BluetoothEmulator
import CoreBluetooth
import Dispatch

/// The passage of time in the world of a fixture.
protocol WorldTime: Sendable {
    /// Returns after a duration.
    func advance(by duration: Duration) async throws

    /// Returns when a condition is true.
    ///
    /// - Throws: ``ContractTimeout`` if it does not become true in time.
    func advance(until condition: @escaping @Sendable () -> Bool) async throws
}

/// Time that the fixture advances.
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

/// Time that passes by itself, as for a daemon in real time.
struct RealWorldTime: WorldTime {
    /// The deadline: far more than any step takes, even on a busy machine.
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
