import CoreBluetooth

/// A peripheral manager without behavior: the base of native and mock managers, and of a client's fakes.
///
/// The methods do nothing, the state is `.unknown`. Create one with ``CBMPeripheralManagerFactory``.
///
/// Thread rule: all members may be used from any thread. Callbacks run on the manager's queue.
open class CBMPeripheralManager: NSObject {
    private struct WeakDelegate {
        weak var delegate: (any CBMPeripheralManagerDelegate)?
    }

    private let heldDelegate = Protected(WeakDelegate())

    /// Creates a manager that does nothing, for subclasses.
    ///
    /// - Parameter dummy: Ignored; it distinguishes the initializer from `init()`.
    public init(_ dummy: Bool) { super.init() }

    /// The delegate.
    ///
    /// Weak; looked up at each callback.
    open var delegate: (any CBMPeripheralManagerDelegate)? {
        get { heldDelegate.withLock { $0.delegate } }
        set { heldDelegate.withLock { $0.delegate = newValue } }
    }

    /// The state of the adapter as the delegate knows it; changes on the manager's queue.
    open var state: CBMManagerState { .unknown }

    /// Whether the manager advertises.
    open var isAdvertising: Bool { false }

    /// Whether this process may use Bluetooth.
    open var authorization: CBMManagerAuthorization { Self.authorization }

    /// Whether this process may use Bluetooth: the simulated permission, otherwise that of the selected backend.
    open class var authorization: CBMManagerAuthorization { CBMCentralManager.authorization }

    /// Advertises: `peripheralManagerDidStartAdvertising(_:error:)`.
    ///
    /// - Parameter advertisementData: `CBMAdvertisementDataLocalNameKey` and `CBMAdvertisementDataServiceUUIDsKey`.
    open func startAdvertising(_ advertisementData: [String: Any]?) {}

    /// Stops advertising; no callback.
    open func stopAdvertising() {}

    /// Requests another connection interval; a hint, without a callback.
    open func setDesiredConnectionLatency(
        _ latency: CBMPeripheralManagerConnectionLatency, for central: CBMCentral
    ) {}

    /// Publishes a service: `peripheralManager(_:didAdd:error:)`.
    open func add(_ service: CBMMutableService) {}

    /// Withdraws a service; no callback.
    open func remove(_ service: CBMMutableService) {}

    /// Withdraws all services of this manager; no callback.
    open func removeAllServices() {}

    /// Answers a read or write, exactly once for each callback.
    ///
    /// - Parameters:
    ///   - request: The request of the callback; if it has several, the first one.
    ///   - result: `.success`, or the error that the central gets.
    open func respond(to request: CBMATTRequest, withResult result: CBMATTError.Code) {}

    /// Sends a notification or indication.
    ///
    /// - Parameters:
    ///   - value: The value; cut to each central's `maximumUpdateValueLength`.
    ///   - characteristic: A published characteristic.
    ///   - centrals: The subscribers to notify; nil for all.
    /// - Returns: Whether it was queued for all of them. After false nothing is sent; send it again after
    ///   `peripheralManagerIsReady(toUpdateSubscribers:)`.
    open func updateValue(
        _ value: Data, for characteristic: CBMMutableCharacteristic, onSubscribedCentrals centrals: [CBMCentral]?
    ) -> Bool { false }

    /// Listens for L2CAP channels: `peripheralManager(_:didPublishL2CAPChannel:error:)`.
    open func publishL2CAPChannel(withEncryption encryptionRequired: Bool) {}

    /// Stops listening: `peripheralManager(_:didUnpublishL2CAPChannel:error:)`.
    open func unpublishL2CAPChannel(_ PSM: CBML2CAPPSM) {}
}
