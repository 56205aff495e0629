import BluetoothEmulator
import Foundation

/// The period between the instant at which a manager must be on and the callback that reports it.
///
/// The first state is due a ``EmulatorConfiguration/stateUpdateDelay`` after the creation of the manager, and the
/// callback arrives when its queue runs next. Code that waits only for that delay may run before the callback. It finds
/// the manager on from the due instant on; its commands are stored, and carried out in order before the callback.
final class ManagerStart: Sendable {
    private struct State {
        var isOver = false
        var kept: [() -> Void] = []
        var isActive: Bool?
    }

    private let host: EmulatedHost
    /// The instant in the world's time; nil without a delay, so that the first state comes when the queue runs next.
    private let due: Duration?
    private let state = Guarded(State())

    init(on host: EmulatedHost, after delay: TimeInterval) {
        self.host = host
        due = delay > 0 ? host.emulator.now + .time(delay) : nil
    }

    /// Whether the manager must be on, and its callback is still to come.
    var isDue: Bool {
        guard let due, !state.withLock({ $0.isOver }) else { return false }
        return host.emulator.now >= due && host.state == .poweredOn
    }

    /// Whether the manager will scan or advertise after the stored commands; nil if they do not affect it.
    var isActive: Bool? { state.withLock { $0.isActive } }

    /// Carries out a command: with the callback if it is due, otherwise at once.
    ///
    /// - Parameter isActive: Whether the manager scans or advertises after it; nil for a command that does not affect
    ///   that.
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

    /// Carries out the stored commands: the callback is about to come.
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
