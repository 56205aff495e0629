import BluetoothBackend
import BluetoothLocking
import Synchronization

/// A role that waits for its radio: activated and invalidated now, made when the radio is decided.
private final class Deferred<Role: Sendable>: Sendable {
    private struct State {
        var role: Role?
        var isInvalidated = false
    }

    private let state = Lock(State())

    /// The role, once it is there.
    var role: Role? { state.withLock { $0.role } }

    /// Takes the role in.
    ///
    /// - Returns: Whether it is still wanted.
    func set(_ role: Role) -> Bool {
        state.withLock { state in
            guard !state.isInvalidated else { return false }
            state.role = role
            return true
        }
    }

    /// Ends the wait.
    ///
    /// - Returns: The role that must be invalidated.
    func invalidate() -> Role? {
        state.withLock { state in
            state.isInvalidated = true
            defer { state.role = nil }
            return state.role
        }
    }
}

/// The central role before the radio is decided.
///
/// The facade sends nothing before a state, so nothing is held back.
final class DeferredCentral: CentralBackend {
    private let backend: AutomaticBackend
    private let options: CentralOptions
    private let deferred = Deferred<any CentralBackend>()

    init(_ backend: AutomaticBackend, _ options: CentralOptions) {
        self.backend = backend
        self.options = options
    }

    func activate(_ sink: any EventSink<CentralEvent>) {
        backend.whenDecided { [options, deferred] radio in
            let central = radio.makeCentral(options)
            if deferred.set(central) { central.activate(sink) }
        }
    }

    func submit(_ command: CentralCommand) { deferred.role?.submit(command) }
    func knownPeers(_ ids: [PeerID]) -> [PeerSummary] { deferred.role?.knownPeers(ids) ?? [] }
    func connectedPeers(offering services: [BluetoothUUID]) -> [PeerSummary] {
        deferred.role?.connectedPeers(offering: services) ?? []
    }
    func invalidate() { deferred.invalidate()?.invalidate() }
}

/// The peripheral role before the radio is decided.
final class DeferredPeripheral: PeripheralBackend {
    private let backend: AutomaticBackend
    private let options: PeripheralOptions
    private let deferred = Deferred<any PeripheralBackend>()

    init(_ backend: AutomaticBackend, _ options: PeripheralOptions) {
        self.backend = backend
        self.options = options
    }

    func activate(_ sink: any EventSink<PeripheralEvent>) {
        backend.whenDecided { [options, deferred] radio in
            let peripheral = radio.makePeripheral(options)
            if deferred.set(peripheral) { peripheral.activate(sink) }
        }
    }

    func submit(_ command: PeripheralCommand) { deferred.role?.submit(command) }
    func invalidate() { deferred.invalidate()?.invalidate() }
}

/// Pairing before the radio is decided; commands wait for it.
final class DeferredPairing: PairingBackend {
    private let backend: AutomaticBackend
    private let deferred = Deferred<any PairingBackend>()

    init(_ backend: AutomaticBackend) { self.backend = backend }

    func activate(_ sink: any EventSink<PairingEvent>) {
        backend.whenDecided { [deferred] radio in
            let pairing = radio.makePairing()
            if deferred.set(pairing) { pairing.activate(sink) }
        }
    }

    func submit(_ command: PairingCommand) {
        backend.whenDecided { [deferred] _ in deferred.role?.submit(command) }
    }

    func invalidate() { deferred.invalidate()?.invalidate() }
}
