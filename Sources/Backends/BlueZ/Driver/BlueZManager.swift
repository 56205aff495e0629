#if os(Linux)
import BluetoothBackend

/// One manager's view of a ``RoleDriver``.
final class BlueZManager<Role: RoleDriver>: RoleBackend {
    typealias Command = Role.Machine.Input.Command
    typealias Event = Role.Machine.Input.Event

    private let driver: Role
    private let manager: HostLedger.Manager
    private let pairing: PairingDriver

    /// - Parameters:
    ///   - manager: The number from the driver.
    ///   - pairing: Answers the questions of pairings that the role needs.
    init(driver: Role, manager: HostLedger.Manager, pairing: PairingDriver) {
        self.driver = driver
        self.manager = manager
        self.pairing = pairing
    }

    deinit { driver.invalidate(manager) }

    func activate(_ sink: any EventSink<Event>) {
        driver.activate(manager, sink)
        pairing.startSoon()
    }

    func submit(_ command: Command) {
        driver.submit(command, from: manager)
    }

    func invalidate() {
        driver.invalidate(manager)
    }
}

extension BlueZManager: CentralBackend where Role == CentralRoleDriver {
    func knownPeers(_ ids: [PeerID]) -> [PeerSummary] {
        driver.query { $0.knownPeers(ids) }
    }

    func connectedPeers(offering services: [BluetoothUUID]) -> [PeerSummary] {
        driver.query { $0.connectedPeers(offering: services) }
    }
}

extension BlueZManager: PeripheralBackend where Role == PeripheralRoleDriver {}

extension BlueZManager: PairingBackend where Role == PairingDriver {}
#endif
