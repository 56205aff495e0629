import CoreBluetooth

/// A central manager without behaviour: the base of native and mock managers, and of a client's own fakes.
///
/// Its methods do nothing, its lists are empty, its state is `.unknown`. Make one with ``CBMCentralManagerFactory``.
///
/// Thread rule: all members may be used from any thread. Callbacks run on the manager's queue.
open class CBMCentralManager: NSObject {
    private let heldDelegate = Protected(WeakDelegate())

    private struct WeakDelegate {
        weak var delegate: (any CBMCentralManagerDelegate)?
    }

    /// Makes a manager that does nothing, for subclasses.
    ///
    /// - Parameter dummy: Without a meaning; it keeps the initializer apart from `init()`.
    public init(_ dummy: Bool) { super.init() }

    /// The delegate.
    ///
    /// Weak; looked up at each callback.
    open var delegate: (any CBMCentralManagerDelegate)? {
        get { heldDelegate.withLock { $0.delegate } }
        set { heldDelegate.withLock { $0.delegate = newValue } }
    }

    /// The state of the adapter as the delegate knows it; changes on the manager's queue.
    open var state: CBMManagerState { .unknown }

    /// Whether this manager scans.
    open var isScanning: Bool { false }

    /// Whether this process may use Bluetooth.
    open var authorization: CBMManagerAuthorization { Self.authorization }

    /// Whether this process may use Bluetooth: what was simulated, or else what the selected backend says.
    open class var authorization: CBMManagerAuthorization {
        MockWorlds.present?.authorization ?? CBCentralManager.authorization
    }

    /// Whether the adapter has these features.
    ///
    /// `CBMCentralManagerMock.simulateFeaturesSupport` answers, where it is set, or else the selected backend.
    open class func supports(_ features: CBMCentralManager.Feature) -> Bool {
        CBMCentralManagerMock.simulateFeaturesSupport?(features) ?? CBCentralManager.supports(features)
    }

    /// Scans, in place of a scan that is running.
    ///
    /// - Parameters:
    ///   - serviceUUIDs: Only peripherals that advertise one of these; nil or empty for all.
    ///   - options: `CBMCentralManagerScanOption…` keys.
    open func scanForPeripherals(withServices serviceUUIDs: [CBMUUID]?, options: [String: Any]? = nil) {}

    /// Ends the scan.
    open func stopScan() {}

    /// Connects; never times out.
    ///
    /// Ends with `didConnect`, `didFailToConnect` or `cancelPeripheralConnection(_:)`.
    ///
    /// - Parameters:
    ///   - peripheral: One of this manager's; another is logged and ignored.
    ///   - options: `CBMConnectPeripheralOption…` keys.
    open func connect(_ peripheral: any CBMPeripheral, options: [String: Any]? = nil) {}

    /// Ends a connection, or an attempt at one: `didDisconnectPeripheral` without an error.
    open func cancelPeripheralConnection(_ peripheral: any CBMPeripheral) {}

    /// The peripherals that the system knows by these identifiers, in that order; unknown ones are left out.
    open func retrievePeripherals(withIdentifiers identifiers: [UUID]) -> [any CBMPeripheral] { [] }

    /// The peripherals that are connected to the system by any app and offer one of the services.
    open func retrieveConnectedPeripherals(withServices serviceUUIDs: [CBMUUID]) -> [any CBMPeripheral] { [] }

    /// Registers for connections of matching peripherals with the system; nil ends the registration.
    open func registerForConnectionEvents(options: [CBMConnectionEventMatchingOption: Any]? = nil) {}
}
