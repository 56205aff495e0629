public import BluetoothBackend

/// A backend around a backend that injects the faults of a ``FaultPlan``.
///
/// It wraps any backend, for the central and the peripheral role; pairing passes unchanged.
/// Each manager counts for itself. Delays are measured by the wrapped backend's clock. What a fault holds back is not
/// waited for by `afterDelivery`: it is owed by the clock, as a driver of virtual time sees, and ``heldBack`` counts
/// it. Bytes of channels take their turn with the manager's other events.
public final class FaultInjectingBackend: BluetoothBackend {
    /// What goes wrong.
    public let plan: FaultPlan
    private let base: any BluetoothBackend
    private let start: Duration
    private let held = HeldBackCount()

    /// Creates a wrapper that injects faults.
    ///
    /// - Throws: ``FaultPlanError`` where a fault of the plan cannot happen.
    public init(around base: any BluetoothBackend, plan: FaultPlan) throws(FaultPlanError) {
        try plan.validate()
        self.base = base
        self.plan = plan
        start = base.clock.now
    }

    /// How many commands and events are held back at present.
    public var heldBack: Int { held.count }

    /// The wrapped backend's name.
    public var name: String { base.name }

    /// The wrapped backend's time.
    public var clock: any BackendClock { base.clock }

    /// The wrapped backend's permission.
    public func authorization() -> AuthorizationStatus { base.authorization() }

    /// The features of the wrapped backend.
    public func supports(_ feature: BackendFeature) -> Bool { base.supports(feature) }

    /// Whether managers of the wrapped backend announce that everything was sent.
    public var announcesSentBursts: Bool { base.announcesSentBursts }

    /// Makes a central role with the plan's faults.
    public func makeCentral(_ options: CentralOptions) -> any CentralBackend {
        FaultyCentral(
            base.makeCentral(options), CentralFaults(plan, start: start), clock: base.clock, heldBack: held)
    }

    /// Makes a peripheral role with the plan's faults.
    public func makePeripheral(_ options: PeripheralOptions) -> any PeripheralBackend {
        FaultyPeripheral(
            base.makePeripheral(options), PeripheralFaults(plan, start: start), clock: base.clock, heldBack: held)
    }

    /// Makes the wrapped backend's own pairing.
    public func makePairing() -> any PairingBackend { base.makePairing() }
}

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
