import BluetoothEmulator
import CoreBluetooth

// The controls of the simulated world. Each takes effect on the specs before it returns; managers hear of it on their
// queues, in virtual time with the next advance.
extension CBMCentralManagerMock {
    /// Shows all managers a state of the adapter; there is no callback where it is the state already.
    ///
    /// It may be called at any time. Until the first call the adapter of the process's own world is off.
    public static func simulateInitialState(_ state: CBMManagerState) { MockWorlds.simulated.setState(state) }

    /// Switches the adapter on.
    public static func simulatePowerOn() { MockWorlds.simulated.setState(.poweredOn) }

    /// Switches the adapter off: scans and links end, without callbacks of theirs.
    ///
    /// The delegates of specs hear of the disconnections.
    public static func simulatePowerOff() { MockWorlds.simulated.setState(.poweredOff) }

    /// Makes these the peripherals on the air, in place of the present ones.
    ///
    /// It may be called in any state. Peripherals that are in both lists stay, with their links. All begin to advertise anew.
    public static func simulatePeripherals(_ peripherals: [CBMPeripheralSpec]) {
        MockWorlds.simulated.setPeripherals(peripherals)
    }

    /// Simulates a permission: with any but `.allowedAlways`, managers cannot use the adapter.
    public static func simulateAuthorization(_ authorization: CBMManagerAuthorization) {
        MockWorlds.simulated.setAuthorization(authorization)
    }

    /// Sets by how many dBm the signal strengths vary that apps get; ``CBMProximity/Deviation/default`` at first.
    ///
    /// The variation follows from the seed of the world.
    public static func simulateRSSIDeviation(_ deviation: CBMProximity.Deviation) {
        MockWorlds.simulated.deviation = deviation
    }

    /// Answers what an earlier process of the app left, by the restore identifier of a manager that is made.
    ///
    /// The dictionary has `CBMCentralManagerRestoredStatePeripheralsKey` with `[CBMPeripheralSpec]`,
    /// `CBMCentralManagerRestoredStateScanServicesKey` with `[CBMUUID]` and `CBMCentralManagerRestoredStateScanOptionsKey`.
    /// With nil, nothing is restored. Called on the thread that makes the manager.
    public static var simulateStateRestoration: ((_ identifierKey: String) -> [String: Any]?)? {
        get { SimulationClosures.current.restoration }
        set { SimulationClosures.change { $0.restoration = newValue } }
    }

    /// Answers which features the adapter has; nil for all.
    ///
    /// The simulated adapter is able to do all of them, whatever it answers.
    public static var simulateFeaturesSupport: ((_ features: CBMCentralManager.Feature) -> Bool)? {
        get { SimulationClosures.current.features }
        set { SimulationClosures.change { $0.features = newValue } }
    }

    /// Ends the simulation: managers become `.unknown` for good, and nothing is on the air.
    ///
    /// The next call begins a new one, with the adapter off. ``simulateStateRestoration`` and ``simulateFeaturesSupport``
    /// stay.
    public static func tearDownSimulation() { MockWorlds.tearDown() }

    /// The emulator behind the simulation, for faults, other hosts, its clock and its trace.
    ///
    /// An extension of this package.
    public static var emulator: Emulator { MockWorlds.current.emulator }

    /// Chooses how fast the time of the process's own worlds goes, from the next one on.
    ///
    /// To be called before the first `simulate…` call, or after ``tearDownSimulation()``. Without it,
    /// `COREBLUETOOTH_MOCK_TIME` says it, or else time is real. An extension of this package.
    ///
    /// - Parameter time: Real, scaled, or virtual; the latter is driven with ``emulator``.
    public static func simulateTime(_ time: EmulatorTime) {
        guard !MockWorlds.setTime(time) else { return }
        log.warning("simulateTime: the simulation is running, and its time stays; call it before, or after a tear-down")
    }

    /// By how many dBm the signal strengths vary.
    static var rssiDeviation: CBMProximity.Deviation { MockWorlds.current.world.deviation }

    /// The raw value of the permission that was simulated; nil if none was.
    static var bluetoothAuthorization: Int? { MockWorlds.present?.authorization?.rawValue }
}
