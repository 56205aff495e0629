import BluetoothBackend
import BluetoothSupport
import Synchronization

/// The central role of one manager in an emulated world.
final class EmulatedCentral: CentralBackend {
    private let emulator: Emulator
    private let manager: Ref<Manager>

    init(_ emulator: Emulator, _ manager: Ref<Manager>) {
        self.emulator = emulator
        self.manager = manager
    }

    func activate(_ sink: any EventSink<CentralEvent>) {
        emulator.activate(manager, .central(sink))
    }

    func submit(_ command: CentralCommand) {
        emulator.submit(.central(manager, command))
    }

    func knownPeers(_ ids: [PeerID]) -> [PeerSummary] {
        emulator.core.withLock { $0.world.knownPeers(ids, host: $0.world.managers[manager]?.host) }
    }

    func connectedPeers(offering services: [BluetoothUUID]) -> [PeerSummary] {
        emulator.core.withLock { $0.world.connectedPeers(offering: services, host: $0.world.managers[manager]?.host) }
    }

    func invalidate() {
        emulator.invalidate(manager)
    }
}

/// The peripheral role of one manager in an emulated world.
final class EmulatedPeripheralRole: PeripheralBackend {
    private let emulator: Emulator
    private let manager: Ref<Manager>

    init(_ emulator: Emulator, _ manager: Ref<Manager>) {
        self.emulator = emulator
        self.manager = manager
    }

    func activate(_ sink: any EventSink<PeripheralEvent>) {
        emulator.activate(manager, .peripheral(sink))
    }

    func submit(_ command: PeripheralCommand) {
        emulator.submit(.peripheral(manager, command))
    }

    func invalidate() {
        emulator.invalidate(manager)
    }
}

/// An agent for pairing in an emulated world.
final class EmulatedPairing: PairingBackend {
    private let emulator: Emulator
    private let manager: Ref<Manager>

    init(_ emulator: Emulator, _ manager: Ref<Manager>) {
        self.emulator = emulator
        self.manager = manager
    }

    func activate(_ sink: any EventSink<PairingEvent>) {
        emulator.activate(manager, .pairing(sink))
    }

    func submit(_ command: PairingCommand) {
        emulator.submit(.pairing(manager, command))
    }

    func invalidate() {
        emulator.invalidate(manager)
    }
}
