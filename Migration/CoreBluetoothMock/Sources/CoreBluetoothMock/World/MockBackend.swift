import BluetoothBackend
import BluetoothEmulator
import CoreBluetooth

/// The host of a mock world as a backend.
///
/// `COREBLUETOOTH_ADAPTER` chooses a real adapter, and does not count here.
struct MockBackend: BluetoothBackend {
    private let host: any BluetoothBackend

    /// The selection of mock managers: the host "default" of an emulator.
    static func selection(_ emulator: Emulator) -> CBBackendSelection {
        .custom(MockBackend(host: emulator.host.backend))
    }

    var name: String { host.name }
    var clock: any BackendClock { host.clock }
    var announcesSentBursts: Bool { host.announcesSentBursts }

    func authorization() -> AuthorizationStatus { host.authorization() }
    func supports(_ feature: BackendFeature) -> Bool { host.supports(feature) }
    func makeCentral(_ options: RoleOptions) -> any CentralBackend { host.makeCentral(unnamed(options)) }
    func makePeripheral(_ options: RoleOptions) -> any PeripheralBackend { host.makePeripheral(unnamed(options)) }
    func makePairing() -> any PairingBackend { host.makePairing() }

    private func unnamed(_ options: RoleOptions) -> RoleOptions {
        var options = options
        options.adapter = nil
        return options
    }
}
