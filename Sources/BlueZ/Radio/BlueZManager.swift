#if os(Linux)
import BluetoothBackend

/// One manager's view of a ``Radio``.
final class BlueZManager<Role: Radio>: RoleBackend {
    typealias Command = Role.Host.Input.Command
    typealias Event = Role.Host.Input.Event

    private let radio: Role
    private let manager: HostLedger.Manager
    private let pairing: PairingRadio

    /// - Parameter pairing: What answers the questions of pairings that the role needs.
    convenience init(radio: Role, pairing: PairingRadio) {
        self.init(radio: radio, manager: radio.newManager(), pairing: pairing)
    }

    private init(radio: Role, manager: HostLedger.Manager, pairing: PairingRadio) {
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

extension BlueZManager: CentralBackend where Role == CentralRadio {
    /// - Parameter restoring: The app's restore identifier, if it has one.
    convenience init(radio: CentralRadio, restoring identifier: String?, pairing: PairingRadio) {
        self.init(radio: radio, manager: radio.newManager(restoring: identifier), pairing: pairing)
    }

    func knownPeers(_ ids: [PeerID]) -> [PeerSummary] {
        radio.query { $0.knownPeers(ids) }
    }

    func connectedPeers(offering services: [BluetoothUUID]) -> [PeerSummary] {
        radio.query { $0.connectedPeers(offering: services) }
    }
}

extension BlueZManager: PeripheralBackend where Role == PeripheralRadio {}
#endif
