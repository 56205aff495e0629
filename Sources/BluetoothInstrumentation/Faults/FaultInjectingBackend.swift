public import BluetoothBackend

/// A radio around a radio on which a ``FaultPlan`` comes true.
///
/// It works around any radio, real or emulated, and for the central and the peripheral role; pairing passes as it is.
/// Each manager counts for itself. Delays are measured by the wrapped radio's clock. What a fault holds back is not
/// waited for by `afterDelivery`: it is owed by the clock, as a driver of virtual time sees, and ``heldBack`` counts
/// it. Bytes of channels take their turn with the manager's other events.
public final class FaultInjectingBackend: BluetoothBackend {
    /// What goes wrong.
    public let plan: FaultPlan
    private let base: any BluetoothBackend
    private let start: Duration
    private let held = HeldBackCount()

    /// Faults around a radio.
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

    /// The wrapped radio's name.
    public var name: String { base.name }

    /// The wrapped radio's time.
    public var clock: any BackendClock { base.clock }

    /// The wrapped radio's permission.
    public func authorization() -> AuthorizationStatus { base.authorization() }

    /// What the wrapped radio can do.
    public func supports(_ feature: BackendFeature) -> Bool { base.supports(feature) }

    /// Whether managers over the wrapped radio announce that everything has left.
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

    /// Makes the wrapped radio's own pairing.
    public func makePairing() -> any PairingBackend { base.makePairing() }
}
