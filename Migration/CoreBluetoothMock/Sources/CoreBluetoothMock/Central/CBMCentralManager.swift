import CoreBluetooth

/// A central manager without behavior: the base of native and mock managers, and of a client's fakes.
///
/// The methods do nothing, the lists are empty, the state is `.unknown`. Create one with ``CBMCentralManagerFactory``.
///
/// Thread rule: all members may be used from any thread. Callbacks run on the manager's queue.
open class CBMCentralManager: NSObject {
    private let heldDelegate = Protected(WeakDelegate())

    private struct WeakDelegate {
        weak var delegate: (any CBMCentralManagerDelegate)?
    }

    /// Creates a manager that does nothing, for subclasses.
    ///
    /// - Parameter dummy: Ignored; it distinguishes the initializer from `init()`.
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

    /// Whether this process may use Bluetooth: the simulated permission, otherwise that of the selected backend.
    open class var authorization: CBMManagerAuthorization {
        MockWorlds.present?.authorization ?? CBCentralManager.authorization
    }

    /// Returns whether the adapter has these features.
    ///
    /// `CBMCentralManagerMock.simulateFeaturesSupport` decides if it is set, otherwise the selected backend.
    open class func supports(_ features: CBMCentralManager.Feature) -> Bool {
        CBMCentralManagerMock.simulateFeaturesSupport?(features) ?? CBCentralManager.supports(features)
    }

    /// Scans; replaces a running scan.
    ///
    /// - Parameters:
    ///   - serviceUUIDs: The services of which a peripheral must advertise one; nil or empty for all peripherals.
    ///   - options: `CBMCentralManagerScanOption…` keys.
    open func scanForPeripherals(withServices serviceUUIDs: [CBMUUID]?, options: [String: Any]? = nil) {}

    /// Ends the scan.
    open func stopScan() {}

    /// Connects; never times out.
    ///
    /// Ends with `didConnect`, `didFailToConnect` or `cancelPeripheralConnection(_:)`.
    ///
    /// - Parameters:
    ///   - peripheral: A peripheral of this manager; others are logged and ignored.
    ///   - options: `CBMConnectPeripheralOption…` keys.
    open func connect(_ peripheral: any CBMPeripheral, options: [String: Any]? = nil) {}

    /// Ends a connection, or an attempt at one: `didDisconnectPeripheral` without an error.
    open func cancelPeripheralConnection(_ peripheral: any CBMPeripheral) {}

    /// Returns the peripherals with these identifiers that the system knows, in that order; leaves out unknown ones.
    open func retrievePeripherals(withIdentifiers identifiers: [UUID]) -> [any CBMPeripheral] { [] }

    /// Returns the peripherals that are connected to the system by any app and offer one of the services.
    open func retrieveConnectedPeripherals(withServices serviceUUIDs: [CBMUUID]) -> [any CBMPeripheral] { [] }

    /// Registers for connections of matching peripherals with the system; nil ends the registration.
    open func registerForConnectionEvents(options: [CBMConnectionEventMatchingOption: Any]? = nil) {}
}
