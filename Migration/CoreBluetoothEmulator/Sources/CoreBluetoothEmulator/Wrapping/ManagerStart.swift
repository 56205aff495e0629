import BluetoothEmulator
import Foundation

/// The time between the instant at which a manager is due to be on and the callback that says so.
///
/// The first state is due a ``EmulatorConfiguration/stateUpdateDelay`` after the manager was made, and the callback comes with
/// the next turn of its queue. Code that waits for that delay and no longer runs beside the callback. From the due instant
/// on it finds the manager on; its commands are kept, and carried out in their order before the callback.
final class ManagerStart: Sendable {
    private struct State {
        var isOver = false
        var kept: [() -> Void] = []
        var isActive: Bool?
    }

    private let host: EmulatedHost
    /// In the world's time; nil where there is no delay, so that the first state comes with the queue's next turn.
    private let due: Duration?
    private let state = Guarded(State())

    init(on host: EmulatedHost, after delay: TimeInterval) {
        self.host = host
        due = delay > 0 ? host.emulator.now + .time(delay) : nil
    }

    /// Whether the manager is due to be on, and its callback has not come yet.
    var isDue: Bool {
        guard let due, !state.withLock({ $0.isOver }) else { return false }
        return host.emulator.now >= due && host.state == .poweredOn
    }

    /// Whether the manager will scan or advertise after the kept commands; nil where they say nothing about it.
    var isActive: Bool? { state.withLock { $0.isActive } }

    /// Carries out a command: with the callback where that is due, else at once.
    ///
    /// - Parameter isActive: Whether the manager scans or advertises after it; nil for a command that changes nothing in that.
    func perform(isActive: Bool? = nil, _ command: @escaping () -> Void) {
        let isKept =
            isDue
            && state.withLock { state in
                guard !state.isOver else { return false }
                state.kept.append(command)
                state.isActive = isActive ?? state.isActive
                return true
            }
        if !isKept { command() }
    }

    /// Carries out what was kept: the callback is about to come.
    func end() {
        while true {
            let commands = state.withLock { state in
                defer { state.kept = [] }
                state.isOver = state.kept.isEmpty
                if state.isOver { state.isActive = nil }
                return state.kept
            }
            if commands.isEmpty { return }
            commands.forEach { $0() }
        }
    }
}
