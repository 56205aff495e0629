import BluetoothBackend
import BluetoothLocking
import Synchronization

/// A role that waits for its radio: activated and invalidated now, made when the radio is decided.
///
/// Commands wait for the radio too; managers send none before their first state.
final class DeferredRole<Command: Sendable, Event: Sendable>: RoleBackend {
    private struct State {
        var role: (any RoleBackend<Command, Event>)?
        var isInvalidated = false
    }

    private let backend: AutomaticBackend
    private let make: @Sendable (any BluetoothBackend) -> any RoleBackend<Command, Event>
    private let state = Lock(State())

    init(
        _ backend: AutomaticBackend,
        _ make: @escaping @Sendable (any BluetoothBackend) -> any RoleBackend<Command, Event>
    ) {
        self.backend = backend
        self.make = make
    }

    func activate(_ sink: any EventSink<Event>) {
        backend.whenDecided { [self] radio in
            let role = make(radio)
            if take(role) { role.activate(sink) }
        }
    }

    func submit(_ command: Command) {
        if let role { return role.submit(command) }
        backend.whenDecided { [self] _ in role?.submit(command) }
    }

    func invalidate() {
        let role = state.withLock { state in
            state.isInvalidated = true
            defer { state.role = nil }
            return state.role
        }
        role?.invalidate()
    }

    /// The role, once it is there.
    fileprivate var role: (any RoleBackend<Command, Event>)? { state.withLock { $0.role } }

    /// - Returns: Whether the role is still wanted.
    private func take(_ role: any RoleBackend<Command, Event>) -> Bool {
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

/// A role as no more than that.
func erased<Role: RoleBackend>(_ role: Role) -> any RoleBackend<Role.Command, Role.Event> { role }
