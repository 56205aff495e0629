package import BluetoothEmulator
import BluetoothSupport

/// An emulated world that people and programs observe and control; ``answer(_:)`` implements its whole protocol.
///
/// Nothing is observed before the first question. Callable from any thread.
package final class LiveWorld: Sendable {
    private struct State {
        var model = LiveModel()
        var tap: EmulatorTap?
    }

    package let emulator: Emulator
    /// The name of the world's file; nil for the built-in devices.
    let file: String?
    /// The clock that drives the time; nil if the time passes by itself.
    let clock: WorldClock?
    let log = EventLog()
    let capture: LiveCaptureFile
    let record: HandRecord
    private let state = Lock(State())

    /// - Parameters:
    ///   - emulator: The emulator of the world.
    ///   - file: The name of the world's file, for display.
    ///   - clock: Drives the emulator; nil if its time passes by itself.
    ///   - directory: A directory that only the user can enter, for the capture.
    package init(_ emulator: Emulator, file: String?, clock: WorldClock?, directory: String) {
        (self.emulator, self.file, self.clock) = (emulator, file, clock)
        capture = LiveCaptureFile(emulator, directory: directory)
        record = HandRecord(file: file, seed: emulator.seed)
    }

    /// Sends the traffic of the last second, and keeps quiet connections alive, until the task ends.
    package func run() async {
        var seconds = 0
        while true {
            do {
                try await Task.sleep(for: .seconds(1))
            } catch {
                // The task has ended.
                return log.close()
            }
            seconds += 1
            reportTraffic()
            if seconds.isMultiple(of: 15) { log.wake() }
        }
    }

    func reportTraffic() {
        if let kind = state.withLock({ $0.model.takeTraffic() }) { append([kind]) }
        if let capture = capture.newState { append([.capture(capture)]) }
    }

    func append(_ kinds: [LiveEvent.Kind]) { log.append(kinds, at: emulator.now / .seconds(1)) }

    // MARK: The state

    /// The world at this instant.
    func liveState() async -> LiveState {
        await observe()
        let clock = await liveClock()
        return state.withLock { state in
            LiveState(
                sequence: log.lastSequence, time: emulator.now / .seconds(1), seed: emulator.seed, file: file,
                clock: clock, capture: capture.state, hosts: state.model.liveHosts, devices: state.model.liveDevices,
                links: state.model.liveLinks)
        }
    }

    func liveDevice(_ number: UInt32) -> LiveDevice? {
        state.withLock { $0.model.liveDevices.first { $0.id == number } }
    }

    func liveClock() async -> LiveClock {
        if let clock { return await clock.state }
        return LiveClock(isOurs: false, isPaused: false, rate: emulator.time.rate)
    }

    /// Begins to observe the world, and returns when everything so far is known.
    func observe() async {
        let tap = state.withLock { state -> EmulatorTap in
            if let tap = state.tap { return tap }
            // Events arrive on another queue, so never under this lock.
            let tap = emulator.tap(.all.subtracting(.hci)) { [weak self] in self?.receive($0) }
            state.tap = tap
            return tap
        }
        await tap.delivered()
    }

    /// Returns when the world has performed the commands so far, and this object knows the result.
    ///
    /// - Returns: The number of the last event.
    func settle() async throws -> UInt64 {
        try await clock?.advance(by: .zero)
        await observe()
        return log.lastSequence
    }

    private func receive(_ event: TapEvent) {
        state.withLock { state in
            let kinds = state.model.events(for: event)
            log.append(kinds, at: event.time / .seconds(1))
        }
    }
}

extension EmulatorTime {
    fileprivate var rate: Double {
        if case .scaled(let factor) = self { return factor }
        return 1
    }
}
