import BluetoothBackend
import BluetoothEmulator
public import CoreBluetooth

// Invariant: `fields` are accessed under their lock; the rest is constant.
/// A central manager that scans for and connects to peripheral managers of the emulated world, and its other devices.
///
/// Each central manager is an app on a separate phone. Callbacks run on the queue given at initialization, one at a
/// time. Methods may be called from any thread; those that need the adapter are logged and ignored in any state but
/// `.poweredOn`.
public final class EmulatedCBCentralManager: NSObject, @unchecked Sendable {
    struct Fields {
        weak var delegate: (any EmulatedCBCentralManagerDelegate)?
        /// The manager of CoreBluetooth; nil once the world has ended.
        var core: CBCentralManager?
        /// The peripherals by their identifiers on this host; retained by the manager, so that each has one object.
        var peripherals: [UUID: EmulatedCBPeripheral] = [:]
        var scan = Scan()
        /// The registration for connection events; nil without one.
        var connectionEvents: ConnectionEventRegistration?
        /// The restored peripherals, until the adapter is on.
        var restored: [EmulatedCBPeripheral] = []
        /// Whether `willRestoreState` is still to be called, with nothing.
        var mustReportEmptyState: Bool
    }

    /// The reports of the present scan.
    struct Scan {
        var parameters = ScanParameters()
        var reportedAdvertisements: [UUID: Int] = [:]
    }

    let world: EmulatedWorld
    let place: EmulatedWorld.Place
    let queue: DispatchQueue
    /// The state that is restored; nil without one.
    let preserved: PreservedCentral?
    let start: ManagerStart
    let fields: Guarded<Fields>
    private let bridge = CentralManagerBridge()

    /// Creates a manager in the current world.
    ///
    /// - Parameters:
    ///   - delegate: The delegate; not retained.
    ///   - queue: The queue of all callbacks; nil is the main queue.
    ///   - options: `CBCentralManagerOptionRestoreIdentifierKey` counts while
    ///     ``EmulatorConfiguration/stateRestorationEnabled``.
    public init(
        delegate: (any EmulatedCBCentralManagerDelegate)?, queue: DispatchQueue?, options: [String: Any]? = nil
    ) {
        let (world, emulator) = EmulatedWorld.currentWithEmulator
        var options = options ?? [:]
        if !world.configuration.stateRestorationEnabled { options[CBCentralManagerOptionRestoreIdentifierKey] = nil }
        let restoreIdentifier = options[CBCentralManagerOptionRestoreIdentifierKey] as? String
        self.world = world
        self.queue = queue ?? .main
        preserved = restoreIdentifier.flatMap { world.takePreservedCentral($0, in: emulator) }
        place = world.place(for: preserved, restoreIdentifier, in: emulator)
        start = ManagerStart(on: place.host, after: world.configuration.stateUpdateDelay)
        let isEmpty = restoreIdentifier != nil && preserved == nil && !world.configuration.followsApple
        fields = Guarded(Fields(delegate: delegate, mustReportEmptyState: isEmpty))
        super.init()
        bridge.manager = self
        world.register(self, as: place.identifier)
        // Set under the lock, so that a callback on another thread finds the core.
        fields.withLock {
            $0.core = CBCentralManager(
                backend: .emulator(host: place.host), delegate: bridge, queue: queue, options: options)
        }
    }

    deinit {
        for peripheral in peripherals { peripheral.linkEnded(nil) }
    }

    /// The identifier by which the bus names the manager.
    var identifier: UUID { place.identifier }

    var core: CBCentralManager? { fields.withLock { $0.core } }

    /// The delegate; weak, and looked up at each callback.
    public var delegate: (any EmulatedCBCentralManagerDelegate)? {
        get { fields.withLock { $0.delegate } }
        set { fields.withLock { $0.delegate = newValue } }
    }

    /// The state: `.unknown`, then `.poweredOn`; others if the ``EmulatorBus/emulator`` is set to them.
    ///
    /// It is `.poweredOn` as soon as ``EmulatorConfiguration/stateUpdateDelay`` is over, and the callback follows on
    /// the queue.
    public var state: CBManagerState {
        guard let core else { return .unknown }
        return start.isDue ? .poweredOn : core.state
    }

    /// Whether the manager scans.
    public var isScanning: Bool { core.map { start.isActive ?? $0.isScanning } ?? false }

    // MARK: Scanning

    /// Scans; replaces a running scan.
    ///
    /// - Parameters:
    ///   - serviceUUIDs: The services of which a peripheral must advertise one; nil or empty for all peripherals.
    ///   - options: `CBCentralManagerScanOptionAllowDuplicatesKey` and
    ///     `CBCentralManagerScanOptionSolicitedServiceUUIDsKey`, as far as the configuration honors them. Peripherals
    ///     that solicit one of the latter are found too.
    public func scanForPeripherals(withServices serviceUUIDs: [CBUUID]?, options: [String: Any]? = nil) {
        let configuration = world.configuration
        var options = options ?? [:]
        if !configuration.honorAllowDuplicatesOption { options[CBCentralManagerScanOptionAllowDuplicatesKey] = nil }
        if !configuration.honorSolicitedServiceUUIDs {
            options[CBCentralManagerScanOptionSolicitedServiceUUIDsKey] = nil
        }
        if configuration.backgroundModeEnabled, serviceUUIDs?.isEmpty != false {
            logWarning("a scan without services finds nothing while an app is in the background")
        }
        let solicited = options[CBCentralManagerScanOptionSolicitedServiceUUIDsKey] as? [CBUUID] ?? []
        let parameters = ScanParameters(
            services: serviceUUIDs?.map(\.backendUUID), solicitedServices: solicited.map(\.backendUUID),
            allowDuplicates: (options[CBCentralManagerScanOptionAllowDuplicatesKey] as? NSNumber)?.boolValue ?? false)
        fields.withLock { $0.scan = Scan(parameters: parameters) }
        start.perform(isActive: true) { [weak self, options] in
            self?.core?.scanForPeripherals(withServices: serviceUUIDs, options: options)
        }
    }

    /// Ends the scan, if there is one.
    public func stopScan() { start.perform(isActive: false) { [weak self] in self?.core?.stopScan() } }

    // MARK: Connecting

    /// Connects, as soon as the peripheral advertises; never times out.
    ///
    /// Ends with `didConnect`, `didFailToConnect` or `cancelPeripheralConnection(_:)`.
    ///
    /// - Parameters:
    ///   - peripheral: A peripheral of this manager; others are logged and ignored.
    ///   - options: `CBConnectPeripheralOption…` keys, as `CBCentralManager` takes them.
    public func connect(_ peripheral: EmulatedCBPeripheral, options: [String: Any]? = nil) {
        guard isOwn(peripheral) else { return }
        start.perform { [weak self] in self?.core?.connect(peripheral.core, options: options) }
    }

    /// Ends a connection, or an attempt at one: `didDisconnectPeripheral` without an error.
    public func cancelPeripheralConnection(_ peripheral: EmulatedCBPeripheral) {
        guard isOwn(peripheral) else { return }
        start.perform { [weak self] in self?.core?.cancelPeripheralConnection(peripheral.core) }
    }

    private func isOwn(_ peripheral: EmulatedCBPeripheral) -> Bool {
        if peripheral.manager === self { return true }
        logMisuse("\(peripheral) belongs to another central manager")
        return false
    }

    // MARK: Known peripherals

    /// Returns the peripherals that this host knows, in the order of the identifiers; leaves out unknown ones.
    public func retrievePeripherals(withIdentifiers identifiers: [UUID]) -> [EmulatedCBPeripheral] {
        core?.retrievePeripherals(withIdentifiers: identifiers.map(hostIdentifier)).map(peripheral) ?? []
    }

    /// Returns the peripherals that are connected to this host and offer one of the services.
    public func retrieveConnectedPeripherals(withServices serviceUUIDs: [CBUUID]) -> [EmulatedCBPeripheral] {
        core?.retrieveConnectedPeripherals(withServices: serviceUUIDs).map(peripheral) ?? []
    }

    /// Returns the identifier under which this host knows a peripheral manager.
    private func hostIdentifier(of identifier: UUID) -> UUID {
        if let known = knownPeripheral(identifier) { return known.core.identifier }
        return world.peripheral(identifier)?.place.host.identifier(onHost: place.host.name)?.uuid ?? identifier
    }

    // MARK: Events

    /// Registers for events of this manager's links, while ``EmulatorConfiguration/fireConnectionEvents``.
    ///
    /// - Parameter options: `.serviceUUIDs` with `[CBUUID]`, `.peripheralUUIDs` with `[UUID]`; nil registers for all
    ///   links, or ends the registration if Apple's rule applies.
    public func registerForConnectionEvents(options: [CBConnectionEventMatchingOption: Any]? = nil) {
        guard world.configuration.followsApple else {
            return fields.withLock { $0.connectionEvents = ConnectionEventRegistration(options) }
        }
        var options = options
        if let identifiers = options?[.peripheralUUIDs] as? [UUID] {
            options?[.peripheralUUIDs] = identifiers.map(hostIdentifier)
        }
        start.perform { [weak self, options] in self?.core?.registerForConnectionEvents(options: options) }
    }

    /// Returns whether the emulated adapter has optional features.
    public class func supports(_ features: Feature) -> Bool {
        let (_, emulator) = EmulatedWorld.currentWithEmulator
        return features.isSubset(of: emulator.supports(.extendedScanAndConnect) ? .extendedScanAndConnect : [])
    }

    /// Features of an adapter.
    public struct Feature: OptionSet, Sendable {
        /// The bits.
        public let rawValue: Int

        /// Creates a set from bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Scans and connects while extended advertising is used.
        public static let extendedScanAndConnect = Feature(rawValue: 1)
    }
}

extension EmulatedCBCentralManager {
    /// Returns the one object of a peripheral.
    func peripheral(for core: CBPeripheral) -> EmulatedCBPeripheral {
        if let known = fields.withLock({ $0.peripherals[core.identifier] }) { return known }
        let new = EmulatedCBPeripheral(core, of: self)
        return fields.withLock { fields in
            let object = fields.peripherals[core.identifier] ?? new
            fields.peripherals[core.identifier] = object
            return object
        }
    }

    /// Returns the peripheral with an identifier, if this manager has an object of it.
    func knownPeripheral(_ identifier: UUID) -> EmulatedCBPeripheral? {
        peripherals.first { $0.identifier == identifier }
    }

    var peripherals: [EmulatedCBPeripheral] { fields.withLock { Array($0.peripherals.values) } }

    /// Ends the manager with the world: its state is unknown.
    func end() {
        // Released outside the lock.
        let core = fields.withLock { fields in
            defer { fields.core = nil }
            return fields.core
        }
        withExtendedLifetime(core) {}
        for peripheral in peripherals { peripheral.linkEnded(nil) }
    }
}
