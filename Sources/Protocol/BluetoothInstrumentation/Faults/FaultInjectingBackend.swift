public import BluetoothBackend
import Synchronization

/// A backend around a backend that injects the faults of a ``FaultPlan``.
///
/// It wraps any backend, for the central and the peripheral role; pairing passes unchanged. Each manager has separate
/// counts. Delays use the wrapped backend's clock. `afterDelivery` does not wait for messages that a fault delays: the
/// clock owes them, as a driver of virtual time sees, and ``heldBack`` counts them. Bytes of channels pass in order
/// with the manager's other events.
public final class FaultInjectingBackend: BluetoothBackend {
    /// The plan.
    public let plan: FaultPlan
    private let base: any BluetoothBackend
    private let start: Duration
    private let held = HeldBackCount()
    private let managers: ManagerNumbers

    /// Creates a wrapper that injects faults.
    ///
    /// - Throws: ``FaultPlanError`` if a fault of the plan cannot happen.
    public convenience init(around base: any BluetoothBackend, plan: FaultPlan) throws(FaultPlanError) {
        try plan.validate()
        self.init(around: base, validated: plan, managers: ManagerNumbers())
    }

    /// - Parameter managers: The numbers of managers, which several wrappers may share.
    init(around base: any BluetoothBackend, validated plan: FaultPlan, managers: ManagerNumbers) {
        self.base = base
        self.plan = plan
        self.managers = managers
        start = base.clock.now
    }

    /// The number of commands and events that are currently delayed.
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

    /// Creates a central role with the plan's faults.
    public func makeCentral(_ options: RoleOptions) -> any CentralBackend {
        central(base.makeCentral(options))
    }

    /// Creates a peripheral role with the plan's faults.
    public func makePeripheral(_ options: RoleOptions) -> any PeripheralBackend {
        peripheral(base.makePeripheral(options))
    }

    /// Creates the wrapped backend's pairing role.
    public func makePairing() -> any PairingBackend { base.makePairing() }

    private func central(_ role: some CentralBackend) -> any CentralBackend {
        FaultyRole(
            role, CentralFaults(plan, manager: managers.nextCentral(), start: start), clock: clock, heldBack: held)
    }

    private func peripheral(_ role: some PeripheralBackend) -> any PeripheralBackend {
        FaultyRole(
            role, PeripheralFaults(plan, manager: managers.nextPeripheral(), start: start), clock: clock,
            heldBack: held)
    }
}

/// The numbers of the managers of each role, in the order of their creation.
final class ManagerNumbers: Sendable {
    private let centrals = Atomic(0)
    private let peripherals = Atomic(0)

    func nextCentral() -> Int { centrals.add(1, ordering: .relaxed).newValue }

    func nextPeripheral() -> Int { peripherals.add(1, ordering: .relaxed).newValue }
}
