import BluetoothEmulator
import CoreBluetooth

// The controls of the simulated world. Each affects the specs before it returns; managers receive the change on their
// queues, in virtual time with the next advance.
extension CBMCentralManagerMock {
    /// Sets the state of the adapter for all managers; without a callback if it is the state already.
    ///
    /// It may be called at any time. Until the first call the adapter of the process's world is off.
    public static func simulateInitialState(_ state: CBMManagerState) { MockWorlds.simulated.setState(state) }

    /// Switches the adapter on.
    public static func simulatePowerOn() { MockWorlds.simulated.setState(.poweredOn) }

    /// Switches the adapter off: scans and links end, without separate callbacks.
    ///
    /// The delegates of specs receive the disconnections.
    public static func simulatePowerOff() { MockWorlds.simulated.setState(.poweredOff) }

    /// Replaces the present peripherals by these.
    ///
    /// It may be called in any state. Peripherals in both lists stay, with their links. All restart their advertising.
    public static func simulatePeripherals(_ peripherals: [CBMPeripheralSpec]) {
        MockWorlds.simulated.setPeripherals(peripherals)
    }

    /// Simulates a permission: with any but `.allowedAlways`, managers cannot use the adapter.
    public static func simulateAuthorization(_ authorization: CBMManagerAuthorization) {
        MockWorlds.simulated.setAuthorization(authorization)
    }

    /// Sets the variation of the signal strengths that apps receive; initially ``CBMProximity/Deviation/default``.
    ///
    /// The variation follows from the seed of the world.
    public static func simulateRSSIDeviation(_ deviation: CBMProximity.Deviation) {
        MockWorlds.simulated.deviation = deviation
    }

    /// Returns the state that an earlier process of the app left, by the restore identifier of a manager that is
    /// created.
    ///
    /// The dictionary has `CBMCentralManagerRestoredStatePeripheralsKey` with `[CBMPeripheralSpec]`,
    /// `CBMCentralManagerRestoredStateScanServicesKey` with `[CBMUUID]` and
    /// `CBMCentralManagerRestoredStateScanOptionsKey`. With nil, nothing is restored. Called on the thread that creates
    /// the manager.
    public static var simulateStateRestoration: ((_ identifierKey: String) -> [String: Any]?)? {
        get { SimulationClosures.current.restoration }
        set { SimulationClosures.change { $0.restoration = newValue } }
    }

    /// Returns whether the adapter has features; nil for all.
    ///
    /// The simulated adapter supports all of them, regardless of the result.
    public static var simulateFeaturesSupport: ((_ features: CBMCentralManager.Feature) -> Bool)? {
        get { SimulationClosures.current.features }
        set { SimulationClosures.change { $0.features = newValue } }
    }

    /// Ends the simulation: the state of managers stays `.unknown`, and all peripherals are removed.
    ///
    /// The next call begins a new one, with the adapter off. ``simulateStateRestoration`` and
    /// ``simulateFeaturesSupport`` stay.
    public static func tearDownSimulation() { MockWorlds.tearDown() }

    /// The emulator behind the simulation, for faults, other hosts, its clock and its trace.
    ///
    /// An extension of this package.
    public static var emulator: Emulator { MockWorlds.current.emulator }

    /// Sets the speed of the time of the process's worlds, from the next one on.
    ///
    /// Call it before the first `simulate…` call, or after ``tearDownSimulation()``. Without it,
    /// `COREBLUETOOTH_MOCK_TIME` decides; otherwise time is real. An extension of this package.
    ///
    /// - Parameter time: Real, scaled, or virtual; the latter is driven with ``emulator``.
    public static func simulateTime(_ time: EmulatorTime) {
        guard !MockWorlds.setTime(time) else { return }
        log.warning("simulateTime: the simulation is running, and its time stays; call it before, or after a tear-down")
    }

    /// The variation of the signal strengths.
    static var rssiDeviation: CBMProximity.Deviation { MockWorlds.current.world.deviation }

    /// The raw value of the simulated permission; nil without one.
    static var bluetoothAuthorization: Int? { MockWorlds.present?.authorization?.rawValue }
}
