import BluetoothBackend
public import Dispatch
public import Foundation

/// Scans for, discovers and connects to peripherals.
///
/// Callbacks run on the queue given at initialization, one at a time. Methods may be called from any thread; those
/// that need the adapter are logged and ignored in any state but `.poweredOn`. The manager does not keep peripherals
/// alive. Source: Apple, CBCentralManager.
open class CBCentralManager: CBManager {
    let core: CentralCore

    /// A manager without a delegate, with callbacks on the main queue.
    public convenience init() {
        self.init(delegate: nil, queue: nil, options: nil)
    }

    /// A manager over the selected backend.
    ///
    /// - Parameters:
    ///   - delegate: The delegate; not retained.
    ///   - queue: The queue of all callbacks; nil is the main queue.
    public required convenience init(delegate: (any CBCentralManagerDelegate)?, queue: DispatchQueue?) {
        self.init(delegate: delegate, queue: queue, options: nil)
    }

    /// A manager over the selected backend.
    ///
    /// - Parameters:
    ///   - delegate: The delegate; not retained.
    ///   - queue: The queue of all callbacks; nil is the main queue.
    ///   - options: `CBCentralManagerOption…` keys. They are accepted; none changes anything on Linux but the
    ///     restore identifier, which backends may use, and ``CBManagerOptionLimitsKey``.
    public init(
        delegate: (any CBCentralManagerDelegate)?, queue: DispatchQueue?, options: [String: Any]? = nil
    ) {
        core = CentralCore(BackendResolver.backend(), options, queue: queue)
        super.init(ofModule: ())
        core.activate(for: self, delegate)
    }

    /// A manager over a backend of the app's choice.
    ///
    /// An extension of this package.
    ///
    /// - Parameters:
    ///   - backend: The backend.
    ///   - delegate: The delegate; not retained.
    ///   - queue: The queue of all callbacks; nil is the main queue.
    ///   - options: As above.
    public init(
        backend: CBBackendSelection, delegate: (any CBCentralManagerDelegate)?, queue: DispatchQueue?,
        options: [String: Any]? = nil
    ) {
        core = CentralCore(BackendResolver.backend(for: backend), options, queue: queue)
        super.init(ofModule: ())
        core.activate(for: self, delegate)
    }

    deinit {
        core.invalidate()
    }

    /// The delegate.
    ///
    /// Weak; looked up at each delivery.
    open var delegate: (any CBCentralManagerDelegate)? {
        get { core.delegate }
        set { core.delegate = newValue }
    }

    /// The state of the adapter as the delegate knows it.
    open override var state: CBManagerState { CBManagerState(core.read { $0.state }) }

    /// Whether this manager scans; follows `scanForPeripherals` and `stopScan` at once.
    open var isScanning: Bool { core.read { $0.isScanning } }

    /// The backend's name: "bluez", "emulator", or "automatic" until it is decided.
    ///
    /// An extension of this package.
    public var backendName: String { core.backend.name }

    /// The number of events that were not delivered, since the queue was too slow.
    ///
    /// An extension of this package.
    public var droppedEvents: CBDroppedEvents { core.inbox.dropped }

    /// Whether the controller and the stack can do something that not all can.
    open class func supports(_ features: CBCentralManager.Feature) -> Bool {
        let backend = BackendResolver.backend()
        return features.isSubset(of: backend.supports(.extendedScanAndConnect) ? .extendedScanAndConnect : [])
    }

    /// Scans, in place of a scan that is running, until `stopScan` or power-off.
    ///
    /// - Parameters:
    ///   - serviceUUIDs: Only peripherals that advertise one of these; nil or empty for all.
    ///   - options: `CBCentralManagerScanOptionAllowDuplicatesKey`,
    ///     `CBCentralManagerScanOptionSolicitedServiceUUIDsKey`.
    open func scanForPeripherals(withServices serviceUUIDs: [CBUUID]?, options: [String: Any]? = nil) {
        let parameters = ScanParameters(services: serviceUUIDs, options: options)
        core.transition { $0.scan(parameters) }
    }

    /// Ends the scan; nothing happens where there is none.
    open func stopScan() {
        core.transition { $0.stopScan() }
    }

    /// The peripherals that the system knows by these identifiers, in that order; unknown ones are left out.
    ///
    /// Peripherals that the app holds are known. Of others that are out of reach a limited number is: see
    /// ``CBManagerLimits/rememberedPeripherals``.
    open func retrievePeripherals(withIdentifiers identifiers: [UUID]) -> [CBPeripheral] {
        core.retrieve(identifiers.map { PeerID($0) })
    }

    /// The peripherals that are connected to the system by any app and offer one of the services.
    open func retrieveConnectedPeripherals(withServices serviceUUIDs: [CBUUID]) -> [CBPeripheral] {
        core.retrieve { $0.connectedPeers(offering: serviceUUIDs.map(\.bluetoothUUID)) }
    }

    /// Connects; never times out.
    ///
    /// Ends with `didConnect`, `didFailToConnect` or `cancelPeripheralConnection`.
    ///
    /// - Parameters:
    ///   - peripheral: One of this manager's; those of others are logged and ignored.
    ///   - options: `CBConnectPeripheralOptionStartDelayKey` and `CBConnectPeripheralOptionEnableAutoReconnect` count;
    ///     the others are accepted and change nothing.
    open func connect(_ peripheral: CBPeripheral, options: [String: Any]? = nil) {
        guard let handle = ownHandle(peripheral) else { return }
        let delay = startDelay(in: options)
        core.transition { $0.connect(handle, options: ConnectOptions(options), startDelay: delay) }
    }

    /// Ends a connection, or an attempt at one: `didDisconnectPeripheral` without an error.
    open func cancelPeripheralConnection(_ peripheral: CBPeripheral) {
        guard let handle = ownHandle(peripheral) else { return }
        core.transition { $0.cancel(handle) }
    }

    /// Registers for events of connections between matching peripherals and the system; nil ends the registration.
    ///
    /// - Parameter options: `.serviceUUIDs` with `[CBUUID]`, `.peripheralUUIDs` with `[UUID]`.
    open func registerForConnectionEvents(options: [CBConnectionEventMatchingOption: Any]? = nil) {
        let filter = options.map(ConnectionEventFilter.init)
        core.transition { $0.registerForConnectionEvents(filter) }
    }

    /// S32: a peripheral of another manager is logged and ignored.
    private func ownHandle(_ peripheral: CBPeripheral) -> PeerHandle? {
        guard peripheral.core === core else {
            core.log(.foreignPeripheral(peripheral.handle.id))
            return nil
        }
        return peripheral.handle
    }
}

extension CBCentralManager {
    /// Features of an adapter.
    ///
    /// Source: Apple, CBCentralManager.Feature.
    public struct Feature: OptionSet, Hashable, Sendable {
        /// The bits.
        public let rawValue: UInt

        /// Creates a set from bits.
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// Scans and connects while extended advertising is used.
        public static let extendedScanAndConnect = Self(rawValue: 1 << 0)
    }
}

/// A change of a device's connection to the system.
///
/// Source: Apple, CBConnectionEvent.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum CBConnectionEvent: Int, Sendable {
    /// It disconnected from the system.
    case peerDisconnected = 0
    /// It connected to the system.
    case peerConnected = 1
    /// A value that a later version of the API may add; keeps a `default` in a client's `switch` reachable.
    @available(*, unavailable)
    case _other = -1
}

/// Which devices connection events are wanted of.
///
/// Source: Apple, CBConnectionEventMatchingOption.
public struct CBConnectionEventMatchingOption: RawRepresentable, Hashable, Sendable {
    /// The option's name.
    public let rawValue: String

    /// Creates an option from a name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Devices with one of these services: `[CBUUID]`, at most four.
    ///
    /// The string behind it is not certain.
    public static let serviceUUIDs = Self(rawValue: "kCBConnectionEventMatchingOptionServiceUUIDs")
    /// Devices with one of these identifiers: `[UUID]`.
    ///
    /// The string behind it is not certain.
    public static let peripheralUUIDs = Self(rawValue: "kCBConnectionEventMatchingOptionPeripheralUUIDs")
}
