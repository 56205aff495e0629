import BluetoothEmulator
import BluetoothSupport
import Dispatch

/// A watch that detects a test that waits for something that takes time, while virtual time is paused and nothing
/// drives it.
///
/// Such a test would wait forever. The watch stores the failure for the test, drives time so that the test can end, and
/// requests its cancellation if that does not help.
final class StandstillWatch: Sendable {
    /// The ways in which a test's body ends.
    enum Outcome: Sendable {
        case ended
        /// The body waits for something that does not happen, and must be cancelled.
        case stuck
    }

    private struct State {
        var activity: EmulatorActivity?
        /// The number of checks in a row that found no change.
        var age = 0
        var hasEnded = false
        var failure: String?
        var outcome: Outcome?
        var waiting: CheckedContinuation<Outcome, Never>?
    }

    private static let queue = DispatchQueue(label: "CoreBluetooth standstill watch")
    /// The number of such checks after which a waiting body is stuck; together they take the settle timeout.
    private static let standstill = 10
    /// The number of checks for a body that computes, or blocks its thread.
    private static let longStandstill = 60

    private let emulator: Emulator
    private let state = Lock(State())

    init(_ emulator: Emulator) { self.emulator = emulator }

    /// The reason that the test fails, if time stood still.
    var failure: String? { state.withLock { $0.failure } }

    func begin() { lookLater() }

    func watch(_ body: () async throws -> Void) async throws {
        defer { end() }
        try await body()
    }

    func end() {
        state.withLock { $0.hasEnded = true }
        settle(.ended)
    }

    func outcome() async -> Outcome {
        await withCheckedContinuation { continuation in
            let outcome = state.withLock { state -> Outcome? in
                if state.outcome == nil { state.waiting = continuation }
                return state.outcome
            }
            if let outcome { continuation.resume(returning: outcome) }
        }
    }

    /// Ends the process if a cancelled body does not end: the test run would hang.
    func requireEnd() {
        Self.queue.asyncAfter(machineDeadline: .now() + .nanoseconds(Int(emulator.settleTimeout / .nanoseconds(1)))) {
            [self] in
            guard !state.withLock({ $0.hasEnded }) else { return }
            fatalError("\(failure ?? "A test does not end.") Its code takes no notice of being cancelled.")
        }
    }

    private func lookLater() {
        // The delay is computed each time: the test may set the timeout.
        let delay = emulator.settleTimeout / Self.standstill
        Self.queue.asyncAfter(machineDeadline: .now() + .nanoseconds(Int(delay / .nanoseconds(1)))) { [weak self] in
            guard let self else { return }
            let activity = emulator.activity
            let isStuck = state.withLock { state -> Bool? in
                guard !state.hasEnded else { return nil }
                let isPaused = activity == state.activity && activity.hasWork && !activity.isDriven && !activity.isHeld
                state.age = isPaused ? state.age + 1 : 0
                state.activity = activity
                return state.age >= (activity.areTasksQuiet ? Self.standstill : Self.longStandstill)
            }
            switch isStuck {
            case nil: break
            case false: lookLater()
            default: release()
            }
        }
    }

    /// Stores the failure, and drives time so that the body can end.
    private func release() {
        let time = emulator.now
        state.withLock { state in
            state.failure = """
                The test waits, and virtual time is paused at \(time): nothing drives it. Await in \
                emulator.run { … }, which advances time as far as it must, or advance time with expect(_:within:), \
                advance(by:) or advance(until:within:) first. Task.sleep and DispatchQueue.asyncAfter wait for \
                virtual time, too. Where the test waits for something real (a Timer, a DispatchSource, a socket), take \
                emulator.hold() meanwhile.
                """
        }
        emulator.drive(until: { self.state.withLock { $0.hasEnded } }, within: .seconds(3600)) { hasEnded in
            if !hasEnded { self.settle(.stuck) }
        }
    }

    private func settle(_ outcome: Outcome) {
        let waiting = state.withLock { state -> CheckedContinuation<Outcome, Never>? in
            guard state.outcome == nil else { return nil }
            state.outcome = outcome
            return state.waiting.take()
        }
        waiting?.resume(returning: outcome)
    }
}
