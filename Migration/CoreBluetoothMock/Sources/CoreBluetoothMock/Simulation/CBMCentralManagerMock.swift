import BluetoothEmulator
import CoreBluetooth

/// A manager over a simulated world, which the static `simulate…` functions control.
///
/// A static call is for the world of the emulator that the task has selected (`CBManager.withBackend`, a test's trait
/// `.emulator(…)`, `EmulatorTestCase`), otherwise for the process's world, whose adapter is initially off. Callbacks
/// and hooks run with the selection of their world.
///
/// Thread rule: all members may be used from any thread. Callbacks run on the manager's queue.
open class CBMCentralManagerMock: CBMWrappedCentralManager {
    private struct Fields {
        var isEnded = false
        /// The state that the delegate has received.
        var reportedState: CBMManagerState?
        /// The peripherals that the present scan has reported; nil while it reports all packets.
        var reported: Set<UUID>? = []
        /// The peripherals of the manager, which it retains while the adapter is on.
        var peripherals: [UUID: CBMWrappedPeripheral] = [:]
        /// The restored peripherals, to which the system reconnects as long as the app does not end that.
        var restored: Set<UUID> = []
        var deviation: SignalDeviation
    }

    /// The world that the manager is in.
    let world: MockWorld
    private let queue: DispatchQueue
    private let fields: Protected<Fields>

    /// Creates a manager without a delegate, with callbacks on the main queue.
    public init() {
        let (world, emulator) = MockWorlds.current
        self.world = world
        queue = .main
        fields = Protected(Fields(deviation: world.makeDeviation(seed: emulator.seed)))
        super.init(delegate: nil, queue: nil) {
            CBCentralManager(backend: .emulator(host: emulator.host), delegate: $0, queue: nil)
        }
        world.join(self)
    }

    /// Creates a manager without options.
    ///
    /// - Parameters:
    ///   - delegate: The delegate; not retained.
    ///   - queue: The queue of all callbacks; nil is the main queue.
    public init(delegate: (any CBMCentralManagerDelegate)?, queue: DispatchQueue?) {
        let (world, emulator) = MockWorlds.current
        self.world = world
        self.queue = queue ?? .main
        fields = Protected(Fields(deviation: world.makeDeviation(seed: emulator.seed)))
        super.init(delegate: delegate, queue: queue) {
            CBCentralManager(backend: .emulator(host: emulator.host), delegate: $0, queue: queue)
        }
        world.join(self)
    }

    /// Creates a manager.
    ///
    /// - Parameters:
    ///   - delegate: The delegate; not retained.
    ///   - queue: The queue of all callbacks; nil is the main queue.
    ///   - options: `CBMCentralManagerOption…` keys. With a restore identifier, ``simulateStateRestoration`` is called.
    public init(delegate: (any CBMCentralManagerDelegate)?, queue: DispatchQueue?, options: [String: Any]?) {
        let (world, emulator) = MockWorlds.current
        self.world = world
        self.queue = queue ?? .main
        fields = Protected(Fields(deviation: world.makeDeviation(seed: emulator.seed)))
        world.prepareRestoration(options)
        super.init(delegate: delegate, queue: queue) {
            CBCentralManager(backend: .emulator(host: emulator.host), delegate: $0, queue: queue, options: options)
        }
        world.join(self)
    }

    // MARK: Callbacks

    override func makeWrapper(of peripheral: CBPeripheral) -> CBMWrappedPeripheral {
        CBMPeripheralMock(peripheral, of: self, in: world)
    }

    override func wrap(_ peripheral: CBPeripheral) -> CBMWrappedPeripheral {
        let wrapper = super.wrap(peripheral)
        fields.withLock { $0.peripherals[wrapper.identifier] = wrapper }
        return wrapper
    }

    override func receive(_ callback: ManagerCallback) {
        guard !fields.withLock({ $0.isEnded }), let callback = prepare(callback) else { return }
        world.perform { super.receive(callback) }
    }

    /// Records an event for the specs; nil for one that is not reported to the app.
    private func prepare(_ callback: ManagerCallback) -> ManagerCallback? {
        switch callback {
        case .stateUpdated:
            let state = state
            if state != .poweredOn { forgetPeripherals() }
            let isNew = fields.withLock { fields in
                defer { fields.reportedState = state }
                return fields.reportedState != state
            }
            return isNew ? callback : nil
        case .discovered(let peripheral, let data, let rssi): return discovered(peripheral, data, rssi)
        case .connected(let peripheral):
            (peripheral as? CBMPeripheralMock)?.linked()
            device(of: peripheral)?.spec.connected(self)
            return callback
        case .disconnected(let peripheral, let timestamp, let isReconnecting, let error):
            device(of: peripheral)?.spec.disconnected(self)
            let isAgain = reconnectsRestored(peripheral, error)
            return .disconnected(peripheral, timestamp, isReconnecting: isReconnecting || isAgain, error)
        case .willRestore(let state):
            restored(state)
            return callback
        case .failedToConnect, .connectionEvent, .ancsAuthorizationUpdated: return callback
        }
    }

    private func restored(_ state: [String: Any]) {
        let peripherals =
            state[CBMCentralManagerRestoredStatePeripheralsKey] as? [any CBMPeripheral] ?? []
        let options = state[CBMCentralManagerRestoredStateScanOptionsKey] as? [String: Any]
        let isConnected = peripherals.filter { $0.state == .connected }
        for case let peripheral as CBMWrappedPeripheral in isConnected {
            device(of: peripheral)?.spec.connected(self)
        }
        fields.withLock { fields in
            fields.restored = Set(peripherals.map(\.identifier))
            fields.reported = options.allowDuplicates ? nil : []
        }
    }

    /// Reconnects to a restored peripheral that the app did not disconnect.
    private func reconnectsRestored(_ peripheral: CBMWrappedPeripheral, _ error: (any Error)?) -> Bool {
        let isRestored = fields.withLock { $0.restored.remove(peripheral.identifier) != nil }
        guard isRestored, error != nil, peripheral.state == .disconnected else { return false }
        wrapped.connect(peripheral.wrapped, options: [CBConnectPeripheralOptionEnableAutoReconnect: true])
        return true
    }

    private func discovered(
        _ peripheral: CBMWrappedPeripheral, _ data: [String: Any], _ rssi: NSNumber
    ) -> ManagerCallback? {
        let isFirst = fields.withLock { fields in
            fields.reported == nil || fields.reported?.insert(peripheral.identifier).inserted == true
        }
        guard isFirst else { return nil }
        guard let device = device(of: peripheral) else { return .discovered(peripheral, data, rssi) }
        device.spec.fields.withLock { $0.isKnown = true }
        return .discovered(peripheral, device.completed(data), varied(rssi))
    }

    /// Returns a signal strength with the simulated variation.
    func varied(_ rssi: NSNumber) -> NSNumber {
        let deviation = world.deviation.value
        return fields.withLock { NSNumber(value: $0.deviation.vary(rssi.intValue, by: deviation)) }
    }

    private func device(of peripheral: CBMWrappedPeripheral) -> SpecDevice? {
        world.device(of: peripheral.wrapped.identifier)
    }

    private func forgetPeripherals() {
        // The peripherals are released outside the lock.
        let old = fields.withLock { fields in
            defer { fields.peripherals = [:] }
            return fields.peripherals
        }
        for peripheral in old.values { device(of: peripheral)?.spec.disconnected(self) }
    }

    // MARK: The end

    /// Ends the manager with the simulation: its state stays `.unknown`, and nothing is called after it was delivered.
    func end() {
        let wasKnown = state != .unknown
        fields.withLock { $0.isEnded = true }
        forgetPeripherals()
        guard wasKnown else { return }
        let hold = world.emulator?.hold()
        queue.async { [self] in
            world.perform { delegate?.centralManagerDidUpdateState(self) }
            hold?.release()
        }
    }

    // MARK: CBMCentralManager

    /// The state of the adapter, after the first callback; it becomes `.poweredOn` with its callback.
    open override var state: CBMManagerState {
        fields.withLock { $0.isEnded } ? .unknown : world.state(after: super.state)
    }

    /// Whether this process may use Bluetooth: the simulated permission, otherwise `.allowedAlways`.
    open override var authorization: CBMManagerAuthorization { world.authorization ?? .allowedAlways }

    /// Whether this process may use Bluetooth: the simulated permission, otherwise `.allowedAlways`.
    open override class var authorization: CBMManagerAuthorization {
        MockWorlds.present?.authorization ?? .allowedAlways
    }

    /// Returns whether the adapter has these features, by ``simulateFeaturesSupport``; without it, all.
    open override class func supports(_ features: CBMCentralManager.Feature) -> Bool {
        simulateFeaturesSupport?(features) ?? true
    }

    /// Scans, replacing a running scan, until `stopScan` or power-off.
    ///
    /// Without `CBMCentralManagerScanOptionAllowDuplicatesKey`, each peripheral is reported once.
    open override func scanForPeripherals(withServices serviceUUIDs: [CBMUUID]?, options: [String: Any]? = nil) {
        fields.withLock { $0.reported = options.allowDuplicates ? nil : [] }
        super.scanForPeripherals(withServices: serviceUUIDs, options: options)
    }

    /// Connects; a preview is connected at once.
    open override func connect(_ peripheral: any CBMPeripheral, options: [String: Any]? = nil) {
        if let preview = peripheral as? CBMPeripheralPreview { return preview.connect(by: self) }
        super.connect(peripheral, options: options)
    }

    /// Ends a connection, or an attempt at one; a preview is disconnected at once.
    open override func cancelPeripheralConnection(_ peripheral: any CBMPeripheral) {
        if let preview = peripheral as? CBMPeripheralPreview { return preview.disconnect(by: self) }
        super.cancelPeripheralConnection(peripheral)
    }

    /// Returns the peripherals with these identifiers that the host knows, in that order; previews instead, if any
    /// exist.
    open override func retrievePeripherals(withIdentifiers identifiers: [UUID]) -> [any CBMPeripheral] {
        let previews = world.previews.filter { identifiers.contains($0.identifier) }
        if !previews.isEmpty { return previews }
        return super.retrievePeripherals(withIdentifiers: identifiers.compactMap { world.peer(of: $0) })
    }

    /// Returns the peripherals that are linked to the host and offer one of the services; previews instead, if any
    /// exist.
    open override func retrieveConnectedPeripherals(
        withServices serviceUUIDs: [CBMUUID]
    ) -> [any CBMPeripheral] {
        let previews = world.previews.filter { $0.isConnected(offering: serviceUUIDs) }
        return previews.isEmpty ? super.retrieveConnectedPeripherals(withServices: serviceUUIDs) : previews
    }

    /// Registers for connections of matching peripherals with the host; nil ends the registration.
    open override func registerForConnectionEvents(options: [CBMConnectionEventMatchingOption: Any]? = nil) {
        var options = options
        if let identifiers = options?[.peripheralUUIDs] as? [UUID] {
            options?[.peripheralUUIDs] = identifiers.compactMap { world.peer(of: $0) }
        }
        super.registerForConnectionEvents(options: options)
    }
}

extension CBMPeripheralSpec {
    /// Records that a manager is connected.
    fileprivate func connected(_ manager: CBMCentralManagerMock) {
        fields.withLock { fields in
            fields.managers.insert(ObjectIdentifier(manager))
            fields.wasConnected = true
            fields.isKnown = true
        }
    }

    /// Records that a manager is no longer connected.
    fileprivate func disconnected(_ manager: CBMCentralManagerMock) {
        _ = fields.withLock { $0.managers.remove(ObjectIdentifier(manager)) }
    }
}

extension [String: Any]? {
    /// Whether the options of a scan request every packet.
    var allowDuplicates: Bool {
        let option = self?[CBMCentralManagerScanOptionAllowDuplicatesKey]
        return (option as? NSNumber)?.boolValue ?? (option as? Bool) ?? false
    }
}
