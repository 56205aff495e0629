import BluetoothBackend

/// A central role with the faults of a plan.
final class FaultyCentral: CentralBackend {
    private let base: any CentralBackend
    private let core: FaultCore<CentralFaults>

    init(_ base: any CentralBackend, _ machine: CentralFaults, clock: any BackendClock, heldBack: HeldBackCount) {
        self.base = base
        core = FaultCore(machine, clock: clock, heldBack: heldBack) { base.submit($0) }
    }

    func activate(_ sink: any EventSink<CentralEvent>) {
        core.attach(sink)
        base.activate(core)
    }

    func submit(_ command: CentralCommand) { core.submit(command) }

    func knownPeers(_ ids: [PeerID]) -> [PeerSummary] { base.knownPeers(ids) }

    func connectedPeers(offering services: [BluetoothUUID]) -> [PeerSummary] {
        base.connectedPeers(offering: services)
    }

    func invalidate() {
        base.invalidate()
        core.invalidate()
    }
}

/// A peripheral role with the faults of a plan.
final class FaultyPeripheral: PeripheralBackend {
    private let base: any PeripheralBackend
    private let core: FaultCore<PeripheralFaults>

    init(
        _ base: any PeripheralBackend, _ machine: PeripheralFaults, clock: any BackendClock, heldBack: HeldBackCount
    ) {
        self.base = base
        core = FaultCore(machine, clock: clock, heldBack: heldBack) { base.submit($0) }
    }

    func activate(_ sink: any EventSink<PeripheralEvent>) {
        core.attach(sink)
        base.activate(core)
    }

    func submit(_ command: PeripheralCommand) { core.submit(command) }

    func invalidate() {
        base.invalidate()
        core.invalidate()
    }
}
