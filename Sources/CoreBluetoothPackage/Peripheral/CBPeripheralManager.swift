import BluetoothBackend
public import Dispatch
public import Foundation

/// The peripheral role: services that others read, advertising, L2CAP channels.
///
/// No backend serves this role yet: ``state`` becomes `.unsupported`, and every command is ignored with a log line, as
/// CoreBluetooth does in any state but `.poweredOn`. Calls are accepted from any thread; callbacks run on the manager's
/// queue, one at a time. Source: Apple, CBPeripheralManager.
open class CBPeripheralManager: CBManager {
    private let core: PeripheralCore

    /// Makes a manager without delegate, on the main queue.
    public convenience init() { self.init(delegate: nil, queue: nil, options: nil) }

    /// Makes a manager without options.
    ///
    /// See ``init(delegate:queue:options:)``.
    ///
    /// `required`, so that a protocol with this initializer can be given to the class; a subclass with designated
    /// initializers of its own has to write it too.
    public required convenience init(delegate: (any CBPeripheralManagerDelegate)?, queue: DispatchQueue?) {
        self.init(delegate: delegate, queue: queue, options: nil)
    }

    /// Makes a manager.
    ///
    /// Its first callback is the state, later on the queue.
    ///
    /// - Parameters:
    ///   - delegate: Who is called; held weakly.
    ///   - queue: A serial queue for callbacks; nil is the main queue.
    ///   - options: See ``CBPeripheralManagerOptionRestoreIdentifierKey``. The system restores nothing, and shows no
    ///     alert.
    public init(
        delegate: (any CBPeripheralManagerDelegate)?, queue: DispatchQueue?, options: [String: Any]? = nil
    ) {
        core = PeripheralCore(
            backend: BackendResolver.backend(), options: PeripheralOptions(options), queue: queue ?? .main)
        super.init(ofModule: ())
        core.delegate = delegate
        core.activate(for: self)
    }

    /// A manager over a radio of the app's choice.
    ///
    /// An extension of this package.
    ///
    /// - Parameters:
    ///   - backend: The radio.
    ///   - delegate: Who is told; held weakly.
    ///   - queue: The queue of all callbacks; nil is the main queue.
    ///   - options: As above.
    public init(
        backend: CBBackendSelection, delegate: (any CBPeripheralManagerDelegate)?, queue: DispatchQueue?,
        options: [String: Any]? = nil
    ) {
        core = PeripheralCore(
            backend: BackendResolver.backend(for: backend), options: PeripheralOptions(options),
            queue: queue ?? .main)
        super.init(ofModule: ())
        core.delegate = delegate
        core.activate(for: self)
    }

    deinit {
        core.invalidate()
    }

    /// The radio's name: "bluez", "emulator", or "automatic" until it is decided.
    ///
    /// An extension of this package.
    public var backendName: String { core.backendName() }

    /// Who is called.
    ///
    /// Held weakly and read at each callback.
    open var delegate: (any CBPeripheralManagerDelegate)? {
        get { core.delegate }
        set { core.delegate = newValue }
    }

    /// What can be done with the adapter in this role.
    ///
    /// Changes on the manager's queue, just before the callback.
    open override var state: CBManagerState { core.state }

    /// Whether the manager advertises.
    open var isAdvertising: Bool { false }

    /// The older form of ``CBManager/authorization-swift.type.property``.
    @available(*, deprecated, message: "Use CBManager.authorization instead")
    open class func authorizationStatus() -> CBPeripheralManagerAuthorizationStatus {
        switch CBManager.authorization {
        case .notDetermined: .notDetermined
        case .restricted: .restricted
        case .denied: .denied
        case .allowedAlways: .authorized
        }
    }

    // MARK: Commands

    // Each needs a powered-on manager; without a backend of this role there is none, so each logs and returns.

    /// Advertises.
    ///
    /// Answered by `peripheralManagerDidStartAdvertising(_:error:)`.
    ///
    /// - Parameter advertisementData: ``CBAdvertisementDataLocalNameKey`` and ``CBAdvertisementDataServiceUUIDsKey``; other
    ///   keys are ignored.
    open func startAdvertising(_ advertisementData: [String: Any]?) { Misuse.notPoweredOn(self) }

    /// Stops advertising.
    ///
    /// No callback.
    open func stopAdvertising() { Misuse.notPoweredOn(self) }

    /// Asks for another connection interval.
    ///
    /// A hint, without callback.
    open func setDesiredConnectionLatency(
        _ latency: CBPeripheralManagerConnectionLatency, for central: CBCentral
    ) {
        Misuse.notPoweredOn(self)
    }

    /// Publishes a service.
    ///
    /// Answered by `peripheralManager(_:didAdd:error:)`.
    open func add(_ service: CBMutableService) { Misuse.notPoweredOn(self) }

    /// Withdraws a service.
    ///
    /// No callback.
    open func remove(_ service: CBMutableService) { Misuse.notPoweredOn(self) }

    /// Withdraws all services of this manager.
    ///
    /// No callback.
    open func removeAllServices() { Misuse.notPoweredOn(self) }

    /// Answers a read or write, exactly once for each callback.
    ///
    /// - Parameters:
    ///   - request: The request of the callback; of several, the first one.
    ///   - result: `.success`, or the error that the central gets.
    open func respond(to request: CBATTRequest, withResult result: CBATTError.Code) { Misuse.notPoweredOn(self) }

    /// Sends a notification or indication.
    ///
    /// - Parameters:
    ///   - value: The value; cut to each central's `maximumUpdateValueLength`.
    ///   - characteristic: A published characteristic.
    ///   - centrals: Who is meant; nil is every subscriber.
    /// - Returns: Whether it was queued. After false nothing is sent; send it again after
    ///   `peripheralManagerIsReady(toUpdateSubscribers:)`.
    open func updateValue(
        _ value: Data, for characteristic: CBMutableCharacteristic, onSubscribedCentrals centrals: [CBCentral]?
    ) -> Bool {
        Misuse.notPoweredOn(self)
        return false
    }

    /// Listens for L2CAP channels.
    ///
    /// Answered by `peripheralManager(_:didPublishL2CAPChannel:error:)`.
    ///
    /// - Parameter encryptionRequired: Whether centrals have to encrypt the link first.
    open func publishL2CAPChannel(withEncryption encryptionRequired: Bool) { Misuse.notPoweredOn(self) }

    /// Stops to listen.
    ///
    /// Answered by `peripheralManager(_:didUnpublishL2CAPChannel:error:)`.
    open func unpublishL2CAPChannel(_ PSM: CBL2CAPPSM) { Misuse.notPoweredOn(self) }
}
