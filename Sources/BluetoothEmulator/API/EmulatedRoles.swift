import BluetoothBackend
import BluetoothSupport

/// One role of one manager, or an agent for pairing, in an emulated world.
final class EmulatedRole<Command: Sendable, Event: Sendable>: RoleBackend {
    private let emulator: Emulator
    private let manager: Ref<Manager>
    private let input: @Sendable (Ref<Manager>, Command) -> WorldInput
    private let sink: @Sendable (any EventSink<Event>) -> RoleSink

    init(
        _ emulator: Emulator, _ manager: Ref<Manager>,
        input: @escaping @Sendable (Ref<Manager>, Command) -> WorldInput,
        sink: @escaping @Sendable (any EventSink<Event>) -> RoleSink
    ) {
        self.emulator = emulator
        self.manager = manager
        self.input = input
        self.sink = sink
    }

    func activate(_ sink: any EventSink<Event>) { emulator.activate(manager, self.sink(sink)) }

    func submit(_ command: Command) { emulator.submit(input(manager, command)) }

    func invalidate() { emulator.invalidate(manager) }
}

extension EmulatedRole: CentralBackend where Command == CentralCommand, Event == CentralEvent {
    func knownPeers(_ ids: [PeerID]) -> [PeerSummary] {
        emulator.core.withLock { $0.world.knownPeers(ids, host: $0.world.managers[manager]?.host) }
    }

    func connectedPeers(offering services: [BluetoothUUID]) -> [PeerSummary] {
        emulator.core.withLock { $0.world.connectedPeers(offering: services, host: $0.world.managers[manager]?.host) }
    }
}

extension EmulatedRole: PeripheralBackend where Command == PeripheralCommand, Event == PeripheralEvent {}

extension EmulatedRole: PairingBackend where Command == PairingCommand, Event == PairingEvent {}
