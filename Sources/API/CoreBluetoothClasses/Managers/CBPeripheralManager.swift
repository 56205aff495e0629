package import BluetoothBackend
public import Dispatch
public import Foundation

/// The peripheral role: services that others read, advertising, L2CAP channels.
///
/// Callbacks run on the queue given at initialization, one at a time. Methods may be called from any thread; all are
/// logged and ignored in any state but `.poweredOn`. Published services are kept alive, and stay published while the
/// adapter is off; in the states below that all are withdrawn. Releasing the manager withdraws everything that it
/// published, without a callback. Source: Apple, CBPeripheralManager.
open class CBPeripheralManager: CBManager {
    let core: PeripheralCore

    /// Creates a manager without delegate, on the main queue.
    public convenience init() { self.init(delegate: nil, queue: nil, options: nil) }

    /// Creates a manager without options.
    ///
    /// See ``init(delegate:queue:options:)``.
    ///
    /// `required`, so that the class can conform to a protocol with this initializer; a subclass with its own
    /// designated initializers must also implement it.
    public required convenience init(delegate: (any CBPeripheralManagerDelegate)?, queue: DispatchQueue?) {
        self.init(delegate: delegate, queue: queue, options: nil)
    }

    /// Creates a manager.
    ///
    /// Its first callback is the state, later on the queue.
    ///
    /// - Parameters:
    ///   - delegate: The delegate; held weakly.
    ///   - queue: A serial queue for callbacks; nil is the main queue.
    ///   - options: See ``CBPeripheralManagerOptionRestoreIdentifierKey``. What is restored under the identifier is up
    ///     to the backend; no alert is shown.
    public init(
        delegate: (any CBPeripheralManagerDelegate)?, queue: DispatchQueue?, options: [String: Any]? = nil
    ) {
        core = PeripheralCore(BackendResolver.backend(), options, queue: queue)
        super.init(ofModule: ())
        core.activate(for: self, delegate)
    }

    /// Creates a manager over a backend that the app chooses.
    ///
    /// An extension of this package.
    ///
    /// - Parameters:
    ///   - backend: The backend.
    ///   - delegate: The delegate; not retained.
    ///   - queue: The queue of all callbacks; nil is the main queue.
    ///   - options: As above.
    public init(
        backend: CBBackendSelection, delegate: (any CBPeripheralManagerDelegate)?, queue: DispatchQueue?,
        options: [String: Any]? = nil
    ) {
        core = PeripheralCore(BackendResolver.backend(for: backend), options, queue: queue)
        super.init(ofModule: ())
        core.activate(for: self, delegate)
    }

    deinit {
        core.invalidate()
    }

    /// The backend's name: "bluez", "emulator", or "automatic" until it is decided.
    ///
    /// An extension of this package.
    public var backendName: String { core.backend.name }

    /// The number of events that were not delivered, because the queue was too slow.
    ///
    /// An extension of this package.
    public var droppedEvents: CBDroppedEvents { core.inbox.dropped }

    /// The backend's clock, for actions that a device takes by itself.
    package var clock: any BackendClock { core.clock }

    /// The delegate.
    ///
    /// Held weakly and read at each callback.
    open var delegate: (any CBPeripheralManagerDelegate)? {
        get { core.delegate }
        set { core.delegate = newValue }
    }

    /// The state of the adapter in this role.
    ///
    /// Changes on the manager's queue, just before the callback.
    open override var state: CBManagerState { CBManagerState(core.read { $0.state }) }

    /// Whether the manager advertises.
    ///
    /// Changes on the manager's queue, just before the callback, and with `stopAdvertising()`. False while the adapter
    /// is off; the advertisement resumes when it is on again.
    open var isAdvertising: Bool { core.read { $0.isAdvertising } }

    /// The older form of ``CBManager/authorization-swift.type.property``.
    @available(*, deprecated, message: "Use CBManager.authorization instead")
    open class func authorizationStatus() -> CBPeripheralManagerAuthorizationStatus {
        CBPeripheralManagerAuthorizationStatus(rawValue: CBManager.authorization.rawValue) ?? .notDetermined
    }

    // MARK: Advertising

    /// Advertises the app as connectable until `stopAdvertising()`.
    ///
    /// Answered by `peripheralManagerDidStartAdvertising(_:error:)`; with `CBError.alreadyAdvertising` if the manager
    /// advertises already, and the running advertisement stays.
    ///
    /// - Parameter advertisementData: ``CBAdvertisementDataLocalNameKey`` and ``CBAdvertisementDataServiceUUIDsKey``;
    ///   other keys, and values of other types, are ignored with a log line. There is room for 28 bytes of both, and
    ///   for 10 more of the name; the name is shortened, and UUIDs that do not fit are left to the overflow area.
    open func startAdvertising(_ advertisementData: [String: Any]?) {
        let layout = AdvertisementLayout(advertisementData)
        core.transition { $0.startAdvertising(layout) }
    }

    /// Starts advertising with additional data that Apple's dictionary cannot contain; for tools.
    ///
    /// - Parameters:
    ///   - manufacturerData: A company identifier, least significant byte first, and the company's data.
    ///   - serviceData: Data of services. Both together have room for 28 bytes: 2 for the header of each, and the
    ///     UUIDs, included; what is left is for UUIDs and name.
    package func startAdvertising(
        localName: String?, serviceUUIDs: [CBUUID], manufacturerData: Data?, serviceData: [CBUUID: Data]
    ) {
        let layout = AdvertisementLayout(
            localName: localName, serviceUUIDs: serviceUUIDs.map(\.bluetoothUUID), manufacturerData: manufacturerData,
            serviceData: Dictionary(serviceData.map { ($0.key.bluetoothUUID, $0.value) }) { $1 })
        core.transition { $0.startAdvertising(layout) }
    }

    /// Returns the bytes that such data take in an advertisement, which has room for 28.
    package static func advertisedBytes(manufacturerData: Data?, serviceData: [CBUUID: Data]) -> Int {
        AdvertisementLayout.dataBytes(
            manufacturerData, Dictionary(serviceData.map { ($0.key.bluetoothUUID, $0.value) }) { $1 })
    }

    /// Stops advertising; does nothing if the manager does not advertise.
    ///
    /// No callback.
    open func stopAdvertising() {
        core.transition { $0.stopAdvertising() }
    }

    /// Requests another connection interval.
    ///
    /// A hint, without callback.
    open func setDesiredConnectionLatency(
        _ latency: CBPeripheralManagerConnectionLatency, for central: CBCentral
    ) {
        let id = PeerID(central.identifier)
        core.transition { $0.setConnectionLatency(ConnectionLatency(latency), of: id) }
    }

    // MARK: Services

    /// Publishes a service as it is now.
    ///
    /// Answered by `peripheralManager(_:didAdd:error:)` with the same object, once for each call, in order. The error
    /// is `CBError.uuidNotAllowed` for a service of the system (1800, 1801) and for a descriptor other than 2901 and
    /// 2904, and `CBError.invalidParameters` for a service that is published already, includes a service that is not
    /// published, or has a characteristic of a published service, with `.broadcast` or `.extendedProperties`, or with a
    /// value of more than 512 bytes. A log line gives the reason.
    ///
    /// A characteristic with a value that is not read-only is a programming error and traps, as Apple's raises an
    /// exception; so does a descriptor 2901 without a `String` or 2904 without `Data`.
    open func add(_ service: CBMutableService) {
        let local = LocalService(service, for: core)
        if let reason = local.exception { preconditionFailure(reason) }
        core.add(service, local)
    }

    /// Withdraws a service; does nothing if it is not published.
    ///
    /// No callback. Logged and ignored while another published service includes it.
    open func remove(_ service: CBMutableService) {
        let key = ObjectKey(service)
        core.transition { $0.remove(key) }
    }

    /// Withdraws all services of this manager.
    ///
    /// No callback.
    open func removeAllServices() {
        core.transition { $0.removeAllServices() }
    }

    // MARK: Requests and updates

    /// Answers a read or write, exactly once for each callback, at any time and on any thread.
    ///
    /// A second answer is logged and ignored.
    ///
    /// - Parameters:
    ///   - request: The request of the callback. If the callback has several requests, the first one; an error may
    ///     name the one that failed. For a read, its `value` is the answer, cut to what one packet carries; nil is an
    ///     empty one.
    ///   - result: `.success`, or the error that the central gets: a code from 1 to 255, others become
    ///     `.unlikelyError`.
    open func respond(to request: CBATTRequest, withResult result: CBATTError.Code) {
        guard let reference = request.reference, reference.core === core else { return core.log(.foreignRequest) }
        let code = UInt8(exactly: result.rawValue) ?? UInt8(CBATTError.Code.unlikelyError.rawValue)
        let value = request.value
        core.transition {
            $0.respond(to: reference.request, part: reference.part, attCode: code, value: value)
        }
    }

    /// Sends a notification or indication.
    ///
    /// - Parameters:
    ///   - value: The value; cut to each central's `maximumUpdateValueLength`.
    ///   - characteristic: A published characteristic; for another one, a line is logged and the result is false.
    ///   - centrals: The subscribers to notify; nil for all.
    /// - Returns: Whether the value was queued for all of them; true if the list is empty. After false nothing is
    ///   sent; send the value again after `peripheralManagerIsReady(toUpdateSubscribers:)`.
    open func updateValue(
        _ value: Data, for characteristic: CBMutableCharacteristic, onSubscribedCentrals centrals: [CBCentral]?
    ) -> Bool {
        let key = ObjectKey(characteristic)
        let uuid = characteristic.uuid.bluetoothUUID
        let chosen = centrals.map { Set($0.map { PeerID($0.identifier) }) }
        var isQueued = false
        core.transition { machine in
            let update = machine.updateValue(value, of: key, uuid, to: chosen)
            isQueued = update.isQueued
            return update.effects
        }
        return isQueued
    }

    // MARK: Channels

    /// Listens for L2CAP channels.
    ///
    /// Answered by `peripheralManager(_:didPublishL2CAPChannel:error:)`.
    ///
    /// - Parameter encryptionRequired: Whether centrals have to encrypt the link first.
    open func publishL2CAPChannel(withEncryption encryptionRequired: Bool) {
        core.transition { $0.publishChannel(isEncryptionRequired: encryptionRequired) }
    }

    /// Stops listening for channels.
    ///
    /// Answered by `peripheralManager(_:didUnpublishL2CAPChannel:error:)`.
    open func unpublishL2CAPChannel(_ PSM: CBL2CAPPSM) {
        core.transition { $0.unpublishChannel(psm: PSM) }
    }
}

/// The connection interval that the peripheral role requests.
///
/// Source: Apple, CBPeripheralManagerConnectionLatency.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum CBPeripheralManagerConnectionLatency: Int, Sendable {
    /// Quick exchanges over battery life.
    case low = 0
    /// A balance of both.
    case medium = 1
    /// Battery life over quick exchanges.
    case high = 2
    /// A value that a later version of the API may add; keeps a `default` in a client's `switch` reachable.
    @available(*, unavailable)
    case _other = -1
}
