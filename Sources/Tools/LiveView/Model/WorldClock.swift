package import BluetoothEmulator
import BluetoothSupport

/// A clock that drives an emulator's virtual time as real time passes: at the same pace, faster, slower, paused, or by
/// steps.
package actor WorldClock {
    /// The number of seconds of the world in a real one.
    static let rates = 0.01...100.0
    /// The longest step.
    static let longestStep = Duration.seconds(3_600)
    /// The real time between two advances.
    private static let tick = Duration.milliseconds(20)

    private let emulator: Emulator
    private(set) var state = LiveClock(isOurs: true, isPaused: false, rate: 1)
    /// The last advance, which the next one waits for.
    private var last: Task<Void, any Error>?

    /// - Parameter emulator: An emulator in virtual time that nothing else drives.
    package init(_ emulator: Emulator) { self.emulator = emulator }

    func setPaused(_ isPaused: Bool) { state.isPaused = isPaused }

    func setRate(_ rate: Double) { state.rate = rate }

    /// Advances the time after all advances that were requested before.
    ///
    /// - Throws: `EmulatorError`, as `Emulator.advance(by:)` does.
    func advance(by duration: Duration) async throws {
        let (previous, emulator) = (last, emulator)
        let advance = Task {
            // The previous caller receives its failure.
            _ = await previous?.result
            try await emulator.advance(by: duration)
        }
        last = advance
        try await advance.value
    }

    /// Advances with real time until the task ends.
    ///
    /// - Throws: `EmulatorError`, as `Emulator.advance(by:)` does.
    package func run() async throws {
        let clock = ContinuousClock()
        var then = clock.now
        while true {
            do {
                try await clock.sleep(for: Self.tick)
            } catch {
                // The task has ended.
                return
            }
            let now = clock.now
            if !state.isPaused { try await advance(by: (now - then) * state.rate) }
            then = now
        }
    }
}
