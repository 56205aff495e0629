import BluetoothBackend
import BluetoothSupport
import Synchronization

/// A backend that a test scripts: it records commands and sends events; time advances only when the test advances it.
final class ScriptedBackend: BluetoothBackend {
    let name = "scripted"
    let manualClock = ManualClock()
    let pairing = ScriptedPairing()
    private struct Roles {
        var centrals: [ScriptedCentral] = []
        var waiting: [(index: Int, continuation: CheckedContinuation<ScriptedCentral, Never>)] = []
    }

    private let roles = Lock(Roles())
    private let known = Lock<[PeerSummary]>([])
    private let peripheralRoles = Lock<[ScriptedPeripheral]>([])

    var clock: any BackendClock { manualClock }
    func authorization() -> AuthorizationStatus { .allowed }
    func supports(_ feature: BackendFeature) -> Bool { feature == .extendedScanAndConnect }

    func makeCentral(_ options: RoleOptions) -> any CentralBackend {
        let central = ScriptedCentral(known: known.withLock { $0 })
        let due = roles.withLock { roles in
            roles.centrals.append(central)
            let last = roles.centrals.count - 1
            defer { roles.waiting.removeAll { $0.index == last } }
            return roles.waiting.filter { $0.index == last }
        }
        for waiter in due { waiter.continuation.resume(returning: central) }
        return central
    }

    func makePeripheral(_ options: RoleOptions) -> any PeripheralBackend {
        let peripheral = ScriptedPeripheral()
        peripheralRoles.withLock { $0.append(peripheral) }
        return peripheral
    }

    func makePairing() -> any PairingBackend { pairing }

    /// The central roles created so far, in order.
    var centrals: [ScriptedCentral] { roles.withLock { $0.centrals } }

    /// The peripheral roles created so far, in order.
    var peripherals: [ScriptedPeripheral] { peripheralRoles.withLock { $0 } }

    /// Returns the central role with this number, once it is created and activated.
    func central(_ index: Int) async -> ScriptedCentral {
        let central = await withCheckedContinuation { continuation in
            let known = roles.withLock { roles -> ScriptedCentral? in
                if roles.centrals.indices.contains(index) { return roles.centrals[index] }
                roles.waiting.append((index, continuation))
                return nil
            }
            if let known { continuation.resume(returning: known) }
        }
        await central.activated()
        return central
    }

    /// Sets the peers that later centrals know.
    func know(_ summaries: [PeerSummary]) { known.withLock { $0 = summaries } }
}
