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
    private let radios = Lock<[AdapterSelector: CentralRadio]>([:])

    /// A backend with a connection of its own.
    public convenience init(_ configuration: BlueZConfiguration = BlueZConfiguration()) {
        self.init(configuration, timings: BlueZTimings())
    }

    init(
        _ configuration: BlueZConfiguration, timings: BlueZTimings, network: any ChannelNetwork = BluetoothSockets()
    ) {
        self.configuration = configuration
        self.timings = timings
        self.network = network
        daemon = BlueZDaemon(address: configuration.busAddress.map(DBusAddress.explicit) ?? .system, timings: timings)
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
            radios.withLock { Array($0.values) }.contains { $0.query { $0.tellsDisconnectReasons } }
        case .channels: network.isAvailable
        case .extendedScanAndConnect, .peripheralRole, .connectedRSSI, .pairing: false
        }
    }

    /// Makes the central role for one manager, on the adapter that the options or the configuration name.
    public func makeCentral(_ options: CentralOptions) -> any CentralBackend {
        let selector = AdapterSelector(options.adapter ?? configuration.adapter)
        let radio = radios.withLock { radios in
            if let known = radios[selector] { return known }
            let made = CentralRadio(selector: selector, daemon: daemon, timings: timings, network: network)
            radios[selector] = made
            return made
        }
        return BlueZCentral(radio: radio)
    }

    /// Makes a peripheral role that is `.unsupported`.
    public func makePeripheral(_ options: PeripheralOptions) -> any PeripheralBackend {
        UnsupportedPeripheral()
    }

    /// Makes a listener that hears of nothing: pairing is the business of the system's agent.
    public func makePairing() -> any PairingBackend {
        SilentPairing()
    }
}

/// The peripheral role of a radio that has none.
private final class UnsupportedPeripheral: PeripheralBackend {
    func activate(_ sink: any EventSink<PeripheralEvent>) { sink.deliver(.stateChanged(.unsupported)) }
    func submit(_ command: PeripheralCommand) {}
    func invalidate() {}
}

/// Pairing that the system does by itself.
private final class SilentPairing: PairingBackend {
    func activate(_ sink: any EventSink<PairingEvent>) {}
    func submit(_ command: PairingCommand) {}
    func invalidate() {}
}
#endif
