#if os(Linux)
import BluetoothBackend

/// One manager's view of a ``Radio``.
final class BlueZManager<Role: RoleDriver>: RoleBackend {
    typealias Command = Role.Machine.Input.Command
    typealias Event = Role.Machine.Input.Event

    private let radio: Role
    private let manager: HostLedger.Manager
    private let pairing: PairingDriver

    /// - Parameters:
    ///   - limit: How many devices out of reach are remembered.
    ///   - pairing: What answers the questions of pairings that the role needs.
    convenience init(radio: Role, remembering limit: Int, pairing: PairingDriver) {
        self.init(radio: radio, manager: radio.newManager(remembering: limit), pairing: pairing)
    }

    private init(radio: Role, manager: HostLedger.Manager, pairing: PairingDriver) {
        self.radio = radio
        self.manager = manager
        self.pairing = pairing
    }

    deinit { radio.invalidate(manager) }

    func activate(_ sink: any EventSink<Event>) {
        radio.activate(manager, sink)
        pairing.follow()
    }

    func submit(_ command: Command) {
        radio.submit(command, from: manager)
    }

    func invalidate() {
        radio.invalidate(manager)
    }
}

extension BlueZManager: CentralBackend where Role == CentralRoleDriver {
    /// - Parameter options: What the manager asked for.
    convenience init(radio: CentralRoleDriver, _ options: CentralOptions, pairing: PairingDriver) {
        self.init(
            radio: radio,
            manager: radio.newManager(restoring: options.restoreIdentifier, remembering: options.rememberedPeers),
            pairing: pairing)
    }

    func knownPeers(_ ids: [PeerID]) -> [PeerSummary] {
        radio.query { $0.knownPeers(ids) }
    }

    func connectedPeers(offering services: [BluetoothUUID]) -> [PeerSummary] {
        radio.query { $0.connectedPeers(offering: services) }
    }
}

extension BlueZManager: PeripheralBackend where Role == PeripheralRoleDriver {}
#endif
