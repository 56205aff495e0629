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

    /// Creates a manager without a delegate, with callbacks on the main queue.
    public convenience init() {
        self.init(delegate: nil, queue: nil, options: nil)
    }

    /// Creates a manager over the selected backend.
    ///
    /// - Parameters:
    ///   - delegate: The delegate; not retained.
    ///   - queue: The queue of all callbacks; nil is the main queue.
    public required convenience init(delegate: (any CBCentralManagerDelegate)?, queue: DispatchQueue?) {
        self.init(delegate: delegate, queue: queue, options: nil)
    }

    /// Creates a manager over the selected backend.
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

    /// The number of events that were not delivered, because the queue was too slow.
    ///
    /// An extension of this package.
    public var droppedEvents: CBDroppedEvents { core.inbox.dropped }

    /// Whether the controller and the stack have optional features.
    open class func supports(_ features: CBCentralManager.Feature) -> Bool {
        let backend = BackendResolver.backend()
        return features.isSubset(of: backend.supports(.extendedScanAndConnect) ? .extendedScanAndConnect : [])
    }

    /// Scans until `stopScan` or power-off; replaces a running scan.
    ///
    /// - Parameters:
    ///   - serviceUUIDs: Only peripherals that advertise one of these; nil or empty for all.
    ///   - options: `CBCentralManagerScanOptionAllowDuplicatesKey`,
    ///     `CBCentralManagerScanOptionSolicitedServiceUUIDsKey`.
    open func scanForPeripherals(withServices serviceUUIDs: [CBUUID]?, options: [String: Any]? = nil) {
        let parameters = ScanParameters(services: serviceUUIDs, options: options)
        core.transition { $0.scan(parameters) }
    }

    /// Ends the scan, if there is one.
    open func stopScan() {
        core.transition { $0.stopScan() }
    }

    /// Returns the peripherals with these identifiers that the system knows, in that order; leaves out unknown ones.
    ///
    /// Peripherals that the app retains are known. Of the others that are out of reach, a limited number is known: see
    /// ``CBManagerLimits/rememberedPeripherals``.
    open func retrievePeripherals(withIdentifiers identifiers: [UUID]) -> [CBPeripheral] {
        core.retrieve(identifiers.map { PeerID($0) })
    }

    /// Returns the peripherals that are connected to the system by any app and offer one of the services.
    open func retrieveConnectedPeripherals(withServices serviceUUIDs: [CBUUID]) -> [CBPeripheral] {
        core.retrieve { $0.connectedPeers(offering: serviceUUIDs.map(\.bluetoothUUID)) }
    }

    /// Connects to a peripheral; never times out.
    ///
    /// Ends with `didConnect`, `didFailToConnect` or `cancelPeripheralConnection`.
    ///
    /// - Parameters:
    ///   - peripheral: A peripheral of this manager; those of other managers are logged and ignored.
    ///   - options: `CBConnectPeripheralOptionStartDelayKey` and `CBConnectPeripheralOptionEnableAutoReconnect`
    ///     count; the others are accepted and change nothing.
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

    /// Returns the handle; a peripheral of another manager is logged and ignored (S32).
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

/// An option that selects the devices whose connection events are reported.
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
