#if os(Linux)
public import BluetoothBackend
import BluetoothDBus
import BluetoothLocking
import BluetoothSystemClock
import Synchronization

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
    private let radios: Radios
    private let peripheralRadios = Lock<[AdapterSelector: PeripheralRadio]>([:])
    private let pairing: PairingRadio

    /// A backend with a connection of its own.
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
        let radios = Radios()
        self.radios = radios
        let daemon = BlueZDaemon(
            address: configuration.busAddress.map(DBusAddress.explicit) ?? .system, timings: timings)
        self.daemon = daemon
        pairing = PairingRadio(daemon: daemon, timings: timings) { radios.all }
    }

    /// The process's backend of a configuration; always the same one.
    public static func shared(_ configuration: BlueZConfiguration = BlueZConfiguration()) -> BlueZBackend {
        backends.withLock { backends in
            if let known = backends[configuration] { return known }
            let made = BlueZBackend(configuration)
            backends[configuration] = made
            return made
        }
    }

    /// "bluez".
    public var name: String { "bluez" }

    /// The system's time.
    public var clock: any BackendClock { SystemClock() }

    /// `.denied` once the bus or its policy has refused this process; `.allowed` else.
    public func authorization() -> AuthorizationStatus {
        daemon.currentPhase == .denied ? .denied : .allowed
    }

    /// Whether this daemon can do something; what cannot be known yet counts as no.
    public func supports(_ feature: BackendFeature) -> Bool {
        switch feature {
        // `Device1.Disconnected`, from BlueZ 5.83 on; known once it was seen.
        case .disconnectReason:
            radios.all.contains { $0.query { $0.tellsDisconnectReasons } }
        case .channels: network.isAvailable
        case .pairing: daemon.currentPhase == .ready
        case .peripheralRole:
            peripheralRadios.withLock { Array($0.values) }.contains {
                $0.query { $0.adapter?.supportsPeripheral == true }
            }
        case .connectedRSSI: controllers.isAvailable
        case .extendedScanAndConnect:
            radios.all.contains {
                $0.query { host in host.adapter.map { host.tree.advertisers[$0]?.isExtended } == true }
            }
        }
    }

    /// Makes the central role for one manager, on the adapter that the options or the configuration name.
    public func makeCentral(_ options: CentralOptions) -> any CentralBackend {
        BlueZManager(
            radio: radio(AdapterSelector(options.adapter ?? configuration.adapter)),
            restoring: options.restoreIdentifier, pairing: configuration.answersPairing ? pairing : nil)
    }

    /// Makes the peripheral role for one manager, on the adapter that the options or the configuration name.
    public func makePeripheral(_ options: PeripheralOptions) -> any PeripheralBackend {
        let selector = AdapterSelector(options.adapter ?? configuration.adapter)
        let radio = peripheralRadios.withLock { radios in
            if let known = radios[selector] { return known }
            let made = PeripheralRadio(
                selector: selector, daemon: daemon, adapterTimings: timings, timings: peripheralTimings,
                network: network)
            radios[selector] = made
            return made
        }
        // Pairing looks devices up in the central radio.
        _ = self.radio(AdapterSelector(configuration.adapter))
        return BlueZManager(radio: radio, pairing: configuration.answersPairing ? pairing : nil)
    }

    /// Makes the answers and wishes of one pairing agent.
    public func makePairing() -> any PairingBackend {
        _ = radio(AdapterSelector(configuration.adapter))
        return BlueZPairing(radio: pairing)
    }

    private func radio(_ selector: AdapterSelector) -> CentralRadio {
        let radio = radios.bySelector.withLock { radios in
            if let known = radios[selector] { return known }
            let made = CentralRadio(
                selector: selector, daemon: daemon, timings: timings, network: network, controllers: controllers,
                store: store)
            radios[selector] = made
            return made
        }
        let pairing = pairing
        radio.onSecurityFailure { [weak pairing] in pairing?.securityFailed($0) }
        return radio
    }
}

/// The central radios of a backend, by adapter.
private final class Radios: Sendable {
    let bySelector = Lock<[AdapterSelector: CentralRadio]>([:])

    var all: [CentralRadio] { bySelector.withLock { Array($0.values) } }
}
#endif
