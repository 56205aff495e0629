public import BluetoothBackend
import BluetoothSupport

/// The emulator as a backend whose managers all belong to one host.
struct HostBackend: BluetoothBackend {
    let host: EmulatedHost
    /// Whether an adapter that the options name takes precedence over the host.
    var isDefault = false

    var name: String { host.emulator.name }
    var clock: any BackendClock { host.emulator.clock }
    var announcesSentBursts: Bool { host.emulator.announcesSentBursts }

    func authorization() -> AuthorizationStatus { host.adapter.authorization }

    func supports(_ feature: BackendFeature) -> Bool { host.adapter.features.contains(feature) }

    func makeCentral(_ options: RoleOptions) -> any CentralBackend { host.emulator.makeCentral(named(options)) }

    func makePeripheral(_ options: RoleOptions) -> any PeripheralBackend {
        host.emulator.makePeripheral(named(options))
    }

    func makePairing() -> any PairingBackend { host.makePairing() }

    private func named(_ options: RoleOptions) -> RoleOptions {
        var options = options
        options.adapter = isDefault ? options.adapter ?? host.name : host.name
        return options
    }
}

extension EmulatedHost {
    /// The emulator as a backend for managers that all belong to this host, whichever adapter `COREBLUETOOTH_ADAPTER`
    /// names.
    ///
    /// The backend's permission and features are this host's, too.
    public var backend: any BluetoothBackend { HostBackend(host: self) }

    fileprivate var adapter: HostAdapter { emulator.core.withLock { $0.world.lower.hosts[index].adapter } }
}
