import BluetoothBackend
import BluetoothSupport

/// A role that waits for its backend: activated and invalidated now, created when the backend is decided.
///
/// Commands wait for the role too, in their order; managers send none before their first state.
final class DeferredRole<Command: Sendable, Event: Sendable>: RoleBackend {
    private struct State {
        var role: (any RoleBackend<Command, Event>)?
        /// Whether commands go to the role at once; otherwise they wait for earlier ones.
        var isOpen = false
        var waiting: [Command] = []
        var isInvalidated = false
    }

    private let backend: AutomaticBackend
    private let make: @Sendable (any BluetoothBackend) -> MadeRole<Command, Event>
    private let state = Lock(State())

    init(
        _ backend: AutomaticBackend,
        _ make: @escaping @Sendable (any BluetoothBackend) -> MadeRole<Command, Event>
    ) {
        self.backend = backend
        self.make = make
    }

    func activate(_ sink: any EventSink<Event>) {
        backend.whenDecided { [self] decided in
            let role = make(decided).role
            guard adopt(role) else { return role.invalidate() }
            role.activate(sink)
            submitWaiting(to: role)
        }
    }

    func submit(_ command: Command) {
        let role = state.withLock { state -> (any RoleBackend<Command, Event>)? in
            if !state.isOpen, !state.isInvalidated { state.waiting.append(command) }
            return state.isOpen ? state.role : nil
        }
        role?.submit(command)
    }

    private func submitWaiting(to role: any RoleBackend<Command, Event>) {
        while true {
            let commands = state.withLock { state in
                if state.waiting.isEmpty { state.isOpen = true }
                return exchange(&state.waiting, with: [])
            }
            guard !commands.isEmpty else { return }
            for command in commands { role.submit(command) }
        }
    }

    func invalidate() {
        let role = state.withLock { state in
            state.isInvalidated = true
            state.waiting = []
            defer { state.role = nil }
            return state.role
        }
        role?.invalidate()
    }

    fileprivate var role: (any RoleBackend<Command, Event>)? { state.withLock { $0.role } }

    /// - Returns: Whether the role is still wanted.
    private func adopt(_ role: any RoleBackend<Command, Event>) -> Bool {
        state.withLock { state in
            guard !state.isInvalidated else { return false }
            state.role = role
            return true
        }
    }
}

extension DeferredRole: CentralBackend where Command == CentralCommand, Event == CentralEvent {
    func knownPeers(_ ids: [PeerID]) -> [PeerSummary] {
        (role as? any CentralBackend)?.knownPeers(ids) ?? []
    }

    func connectedPeers(offering services: [BluetoothUUID]) -> [PeerSummary] {
        (role as? any CentralBackend)?.connectedPeers(offering: services) ?? []
    }
}

extension DeferredRole: PeripheralBackend where Command == PeripheralCommand, Event == PeripheralEvent {}
extension DeferredRole: PairingBackend where Command == PairingCommand, Event == PairingEvent {}

/// A wrapper for the existential of a role.
///
/// Swift 6.2 with its assertions on refuses a class's stored function that returns the existential.
struct MadeRole<Command: Sendable, Event: Sendable>: Sendable {
    let role: any RoleBackend<Command, Event>

    init(_ role: some RoleBackend<Command, Event>) { self.role = role }
}
