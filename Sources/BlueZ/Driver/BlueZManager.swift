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
    ///   - limit: How many devices out of reach are remembered.
    ///   - pairing: What answers the questions of pairings that the role needs.
    convenience init(driver: Role, remembering limit: Int, pairing: PairingDriver) {
        self.init(driver: driver, manager: driver.newManager(remembering: limit), pairing: pairing)
    }

    private init(driver: Role, manager: HostLedger.Manager, pairing: PairingDriver) {
        self.driver = driver
        self.manager = manager
        self.pairing = pairing
    }

    deinit { driver.invalidate(manager) }

    func activate(_ sink: any EventSink<Event>) {
        driver.activate(manager, sink)
        pairing.follow()
    }

    func submit(_ command: Command) {
        driver.submit(command, from: manager)
    }

    func invalidate() {
        driver.invalidate(manager)
    }
}

extension BlueZManager: CentralBackend where Role == CentralRoleDriver {
    /// - Parameter options: What the manager asked for.
    convenience init(driver: CentralRoleDriver, _ options: RoleOptions, pairing: PairingDriver) {
        self.init(
            driver: driver,
            manager: driver.newManager(restoring: options.restoreIdentifier, remembering: options.rememberedPeers),
            pairing: pairing)
    }

    func knownPeers(_ ids: [PeerID]) -> [PeerSummary] {
        driver.query { $0.knownPeers(ids) }
    }

    func connectedPeers(offering services: [BluetoothUUID]) -> [PeerSummary] {
        driver.query { $0.connectedPeers(offering: services) }
    }
}

extension BlueZManager: PeripheralBackend where Role == PeripheralRoleDriver {}
#endif
