import BluetoothBackend
import BluetoothSupport
import Logging

/// The backend of a build or a setting without one: every manager becomes `.unsupported`, and the log gives the reason.
final class UnavailableBackend: BluetoothBackend {
    let name: String
    let clock: any BackendClock = SystemClock()
    private let reason: String

    init(name: String, reason: String) {
        self.name = name
        self.reason = reason
        Logger(label: "CoreBluetooth").line(.error, "no backend: \(reason)")
    }

    func authorization() -> AuthorizationStatus { .allowed }
    func supports(_ feature: BackendFeature) -> Bool { false }
    func makeCentral(_ options: RoleOptions) -> any CentralBackend { UnavailableCentral() }
    func makePeripheral(_ options: RoleOptions) -> any PeripheralBackend { UnavailablePeripheral() }
    func makePairing() -> any PairingBackend { UnavailablePairing() }
}

/// Reports its state; the facade submits nothing in that state.
private final class UnavailableCentral: CentralBackend {
    func activate(_ sink: any EventSink<CentralEvent>) { sink.deliver(.stateChanged(.unsupported)) }
    func submit(_ command: CentralCommand) {}
    func knownPeers(_ ids: [PeerID]) -> [PeerSummary] { [] }
    func connectedPeers(offering services: [BluetoothUUID]) -> [PeerSummary] { [] }
    func invalidate() {}
}

/// Reports its state; the facade submits nothing in that state.
private final class UnavailablePeripheral: PeripheralBackend {
    func activate(_ sink: any EventSink<PeripheralEvent>) { sink.deliver(.stateChanged(.unsupported)) }
    func submit(_ command: PeripheralCommand) {}
    func invalidate() {}
}

private final class UnavailablePairing: PairingBackend {
    private let sink = Lock<(any EventSink<PairingEvent>)?>(nil)

    func activate(_ sink: any EventSink<PairingEvent>) { self.sink.withLock { $0 = sink } }

    func submit(_ command: PairingCommand) {
        switch command {
        case .pair(let peer, let operation), .unpair(let peer, let operation):
            let error = BackendError(.operationNotSupported, operation: "pairing")
            sink.withLock { $0 }?.deliver(.pairingFailed(peer: peer, operation: operation, error: error))
        case .setCapability, .answer: break
        }
    }

    func invalidate() { sink.withLock { $0 = nil } }
}
