#if os(Linux)
public import BluetoothBackend
import BluetoothDBus
import BluetoothSupport

/// Real adapters, through BlueZ's D-Bus service `org.bluez`.
///
/// One connection and one queue serve all managers. Nothing is opened before the first manager is activated.
public final class BlueZBackend: BluetoothBackend {
    private static let backends = Lock<[BlueZConfiguration: BlueZBackend]>([:])

    private let configuration: BlueZConfiguration
    private let daemon: BlueZDaemon
    private let timings: BlueZTimings
    private let network: any ChannelNetwork
    private let controllers: any ControllerAccess
    private let store: PreservationStore
    private let peripheralTimings: PeripheralTimings
    private let centrals = RoleDrivers<CentralRoleDriver>()
    private let peripherals = RoleDrivers<PeripheralRoleDriver>()
    private let pairing: PairingDriver

    /// Creates a backend with a separate connection.
    public convenience init(_ configuration: BlueZConfiguration = BlueZConfiguration()) {
        self.init(configuration, timings: BlueZTimings())
    }

    init(
        _ configuration: BlueZConfiguration, timings: BlueZTimings,
        peripheralTimings: PeripheralTimings = PeripheralTimings(), network: any ChannelNetwork = BluetoothSockets(),
        controllers: any ControllerAccess = ControllerSockets(), store: PreservationStore = PreservationStore()
    ) {
        self.configuration = configuration
        self.timings = timings
        self.network = network
        self.controllers = controllers
        self.store = store
        self.peripheralTimings = peripheralTimings
        let daemon = BlueZDaemon(
            address: configuration.busAddress.map(DBusAddress.explicit) ?? .system, timings: timings)
        self.daemon = daemon
        pairing = PairingDriver(
            daemon: daemon, timings: timings, acceptsJustWorks: configuration.acceptsJustWorksPairing
        ) { [centrals, peripherals] device in
            centrals.needPairing(with: device) || peripherals.needPairing(with: device)
        } refused: { [centrals] peer in
            for central in centrals.all { central.process(.pairingRefused(peer)) }
        }
    }

    /// The process's backend of a configuration; always the same one.
    public static func shared(_ configuration: BlueZConfiguration = BlueZConfiguration()) -> BlueZBackend {
        backends.withLock { backends in
            if let known = backends[configuration] { return known }
            let new = BlueZBackend(configuration)
            backends[configuration] = new
            return new
        }
    }

    /// "bluez".
    public var name: String { "bluez" }

    /// The system's time.
    public var clock: any BackendClock { SystemClock() }

    /// Returns `.denied` once the bus or its policy has refused this process, otherwise `.allowed`.
    public func authorization() -> AuthorizationStatus {
        daemon.currentPhase == .denied ? .denied : .allowed
    }

    /// Whether the daemon provides a feature; false while this is not known yet.
    public func supports(_ feature: BackendFeature) -> Bool {
        switch feature {
        // `Device1.Disconnected`, from BlueZ 5.83 on; known once the daemon has sent it.
        case .disconnectReason: daemon.query { daemon.objects.givesDisconnectReasons }
        case .channels: network.isAvailable
        case .pairing: daemon.currentPhase == .ready
        case .peripheralRole:
            peripherals.contains { $0.adapter?.supportsPeripheral == true }
        case .connectedRSSI: controllers.isAvailable
        case .extendedScanAndConnect:
            centrals.contains { central in
                central.adapter.map { central.objects.advertisers[$0]?.isExtended } == true
            }
        }
    }

    /// Makes the central role for one manager, on the adapter that the options or the configuration name.
    public func makeCentral(_ options: RoleOptions) -> any CentralBackend {
        let driver = centrals.driver(of: AdapterSelector(options.adapter ?? configuration.adapter)) { selector in
            CentralRoleDriver(
                selector: selector, daemon: daemon, timings: timings, network: network, controllers: controllers,
                store: store, notificationMethod: configuration.notificationMethod)
        }
        driver.onSecurityFailure { [weak pairing] in pairing?.process(.securityFailed($0)) }
        connectPairing(to: driver)
        let manager = driver.newManager(restoring: options.restoreIdentifier, remembering: options.rememberedPeers)
        return BlueZManager(driver: driver, manager: manager, pairing: pairing)
    }

    /// Makes the peripheral role for one manager, on the adapter that the options or the configuration name.
    public func makePeripheral(_ options: RoleOptions) -> any PeripheralBackend {
        let driver = peripherals.driver(of: AdapterSelector(options.adapter ?? configuration.adapter)) { selector in
            PeripheralRoleDriver(
                selector: selector, daemon: daemon, adapterTimings: timings, timings: peripheralTimings,
                network: network)
        }
        connectPairing(to: driver)
        let manager = driver.newManager(remembering: options.rememberedPeers)
        return BlueZManager(driver: driver, manager: manager, pairing: pairing)
    }

    /// Makes the pairing role for one pairing agent.
    public func makePairing() -> any PairingBackend {
        BlueZManager(driver: pairing, manager: pairing.newManager(), pairing: pairing)
    }

    private func connectPairing<Role: RoleDriver>(to driver: Role) where Role.Machine: AdapterRoleMachine {
        let id = ObjectIdentifier(driver)
        driver.onPairingNeed { [weak pairing] in pairing?.needChanged(of: id, to: $0) }
    }
}

/// The drivers of a role, by adapter.
private final class RoleDrivers<Role: RoleDriver>: Sendable where Role.Machine: AdapterRoleMachine {
    private let bySelector = Lock<[AdapterSelector: Role]>([:])

    var all: [Role] { bySelector.withLock { Array($0.values) } }

    /// Whether the role on any adapter meets a condition.
    func contains(where condition: @Sendable (borrowing Role.Machine) -> Bool) -> Bool {
        all.contains { $0.query(condition) }
    }

    func needPairing(with device: ObjectPath) -> Bool { contains { $0.needsPairing(with: device) } }

    func driver(of selector: AdapterSelector, make: (AdapterSelector) -> Role) -> Role {
        bySelector.withLock { drivers in
            if let known = drivers[selector] { return known }
            let new = make(selector)
            drivers[selector] = new
            return new
        }
    }
}
#endif
