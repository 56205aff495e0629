import BluetoothBackend
import BluetoothSupport
import Synchronization

/// A backend that records commands and delivers the events of a test, under a lock as real ones do.
final class TestBackend: BluetoothBackend {
    let name = "test"
    let testClock = TestClock()
    let central = TestCentral()
    let peripheral = TestPeripheral()
    let pairing = TestPairing()

    var clock: any BackendClock { testClock }
    func authorization() -> AuthorizationStatus { .denied }
    func supports(_ feature: BackendFeature) -> Bool { feature == .pairing }
    func makeCentral(_ options: RoleOptions) -> any CentralBackend { central }
    func makePeripheral(_ options: RoleOptions) -> any PeripheralBackend { peripheral }
    func makePairing() -> any PairingBackend { pairing }
}

/// The shared part of the roles of a ``TestBackend``.
final class TestRole<Command: Sendable, Event: Sendable>: Sendable {
    private struct State {
        var sink: (any EventSink<Event>)?
        var commands: [Command] = []
        var isInvalidated = false
    }

    private let state = Lock(State())

    func activate(_ sink: any EventSink<Event>) { state.withLock { $0.sink = sink } }
    func submit(_ command: Command) { state.withLock { $0.commands.append(command) } }
    func invalidate() {
        state.withLock { state in
            state.sink = nil
            state.isInvalidated = true
        }
    }

    var isInvalidated: Bool { state.withLock { $0.isInvalidated } }
    var sink: (any EventSink<Event>)? { state.withLock { $0.sink } }

    /// Removes and returns the commands since the last call.
    func takeCommands() -> [Command] { state.withLock { exchange(&$0.commands, with: []) } }

    func deliver(_ events: Event...) {
        state.withLock { state in
            for event in events { state.sink?.deliver(event) }
        }
    }
}

final class TestCentral: CentralBackend {
    let role = TestRole<CentralCommand, CentralEvent>()

    func activate(_ sink: any EventSink<CentralEvent>) { role.activate(sink) }
    func submit(_ command: CentralCommand) { role.submit(command) }
    func knownPeers(_ ids: [PeerID]) -> [PeerSummary] { ids.map { PeerSummary(id: $0) } }
    func connectedPeers(offering services: [BluetoothUUID]) -> [PeerSummary] { [PeerSummary(id: Samples.peer)] }
    func invalidate() { role.invalidate() }
}

final class TestPeripheral: PeripheralBackend {
    let role = TestRole<PeripheralCommand, PeripheralEvent>()

    func activate(_ sink: any EventSink<PeripheralEvent>) { role.activate(sink) }
    func submit(_ command: PeripheralCommand) { role.submit(command) }
    func invalidate() { role.invalidate() }
}

final class TestPairing: PairingBackend {
    let role = TestRole<PairingCommand, PairingEvent>()

    func activate(_ sink: any EventSink<PairingEvent>) { role.activate(sink) }
    func submit(_ command: PairingCommand) { role.submit(command) }
    func invalidate() { role.invalidate() }
}
