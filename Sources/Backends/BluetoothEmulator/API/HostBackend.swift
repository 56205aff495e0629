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

extension Emulator {
    /// The emulator in place of the machine's adapter: managers that name no host share the host "default".
    ///
    /// As with one adapter, a central manager does not find the advertisements of the program's own peripheral
    /// managers.
    package var inPlaceOfAdapter: any BluetoothBackend { HostBackend(host: host, isDefault: true) }

    /// The emulator that managers of this task use if they name no backend.
    ///
    /// It is the emulator of `CBManager.withBackend`, of a test's trait `.emulator(…)`, of `EmulatorTestCase`, or of
    /// ``run(within:_:)``; nil outside all of these, or if another backend is chosen.
    ///
    /// The value is task-local: child tasks inherit it; detached tasks and blocks on dispatch queues do not.
    public static var selected: Emulator? {
        let backend = SelectedBackend.current
        return backend as? Emulator ?? (backend as? HostBackend)?.host.emulator
    }
}
