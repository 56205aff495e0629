import BluetoothEmulator
import CoreBluetooth

/// A peripheral manager over a simulated world, which ``CBMCentralSpec`` uses as a central.
///
/// It is in the world of the static functions of ``CBMCentralManagerMock``, on the same host: both share the adapter's
/// state.
///
/// Thread rule: all members may be used from any thread. Callbacks run on the manager's queue.
open class CBMPeripheralManagerMock: CBMWrappedPeripheralManager {
    private struct Fields {
        var isEnded = false
        /// The state that the delegate has received.
        var reportedState: CBMManagerState?
        var advertisement: [String: Any]?
        let restored: [CBMMutableService]
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
        fields = Protected(Fields(restored: []))
        super.init(delegate: nil, queue: nil) {
            CBPeripheralManager(backend: .emulator(host: emulator.host), delegate: $0, queue: nil)
        }
        world.join(self)
    }

    /// Creates a manager without options.
    ///
    /// - Parameters:
    ///   - delegate: The delegate; not retained.
    ///   - queue: The queue of all callbacks; nil is the main queue.
    public init(delegate: (any CBMPeripheralManagerDelegate)?, queue: DispatchQueue?) {
        let (world, emulator) = MockWorlds.current
        self.world = world
        self.queue = queue ?? .main
        fields = Protected(Fields(restored: []))
        super.init(delegate: delegate, queue: queue) {
            CBPeripheralManager(backend: .emulator(host: emulator.host), delegate: $0, queue: queue)
        }
        world.join(self)
    }

    /// Creates a manager.
    ///
    /// - Parameters:
    ///   - delegate: The delegate; not retained.
    ///   - queue: The queue of all callbacks; nil is the main queue.
    ///   - options: `CBMPeripheralManagerOption…` keys. With a restore identifier, ``simulateStateRestoration`` is
    ///     called.
    public init(delegate: (any CBMPeripheralManagerDelegate)?, queue: DispatchQueue?, options: [String: Any]?) {
        let (world, emulator) = MockWorlds.current
        self.world = world
        self.queue = queue ?? .main
        fields = Protected(Fields(restored: world.preparePeripheralRestoration(options)))
        super.init(delegate: delegate, queue: queue) {
            CBPeripheralManager(backend: .emulator(host: emulator.host), delegate: $0, queue: queue, options: options)
        }
        world.join(self)
    }

    /// Returns the state that an earlier process of the app left, by the restore identifier of a manager that is
    /// created.
    ///
    /// The dictionary has `CBMPeripheralManagerRestoredStateServicesKey` with `[CBMMutableService]`, which the manager
    /// then publishes, and `CBMPeripheralManagerRestoredStateAdvertisementDataKey` with `[String: Any]`. With nil,
    /// nothing is restored. Called on the thread that creates the manager.
    public static var simulateStateRestoration: ((_ identifierKey: String) -> [String: Any]?)? {
        get { SimulationClosures.current.peripheralRestoration }
        set { SimulationClosures.change { $0.peripheralRestoration = newValue } }
    }

    // MARK: Wrappers and callbacks

    override func makeWrapper(of central: CBCentral) -> CBMCentral {
        CBMCentralMock(central, identifier: world.identifier(ofCentral: central.identifier))
    }

    override func makeWrapper(
        of request: CBATTRequest, of central: CBMCentral, at characteristic: CBMCharacteristic
    ) -> CBMATTRequest {
        CBMATTRequestMock(
            .air(request), of: central, at: characteristic, offset: request.offset, value: request.value)
    }

    override func stateUpdated() {
        let state = state
        let isNew = fields.withLock { fields in
            defer { fields.reportedState = state }
            return fields.reportedState != state
        }
        if isNew { super.stateUpdated() }
    }

    override func restoredServices() -> [CBMMutableService] { fields.withLock { $0.restored } }

    override func deliver(_ body: (any CBMPeripheralManagerDelegate) -> Void) {
        guard !fields.withLock({ $0.isEnded }) else { return }
        world.perform { super.deliver(body) }
    }

    /// Calls the delegate on the manager's queue with an event that the emulator does not have; virtual time waits for
    /// it.
    func enqueue(_ body: @escaping (any CBMPeripheralManagerDelegate) -> Void, otherwise: @escaping () -> Void) {
        let hold = world.emulator?.hold()
        queue.async { [self] in
            if delegate == nil { otherwise() } else { deliver(body) }
            hold?.release()
        }
    }

    /// Ends the manager with the simulation: its state stays `.unknown`, and nothing is called after it was delivered.
    func end() {
        let wasKnown = state != .unknown
        fields.withLock { $0.isEnded = true }
        stopAdvertising()
        guard wasKnown else { return }
        let hold = world.emulator?.hold()
        queue.async { [self] in
            world.perform { delegate?.peripheralManagerDidUpdateState(self) }
            hold?.release()
        }
    }

    /// The advertisement that a scanner would receive; nil while the manager does not advertise.
    var heardAdvertisement: [String: Any]? {
        guard state == .poweredOn, isAdvertising, let data = fields.withLock({ $0.advertisement }) else { return nil }
        let keys = [CBMAdvertisementDataLocalNameKey, CBMAdvertisementDataServiceUUIDsKey]
        return data.filter { keys.contains($0.key) }
            .merging([CBMAdvertisementDataIsConnectable: NSNumber(value: true)]) { $1 }
    }

    // MARK: CBMPeripheralManager

    /// The state of the adapter, after the first callback; it becomes `.poweredOn` with its callback.
    open override var state: CBMManagerState {
        fields.withLock { $0.isEnded } ? .unknown : world.state(after: super.state)
    }

    /// Whether this process may use Bluetooth: the simulated permission, otherwise `.allowedAlways`.
    open override class var authorization: CBMManagerAuthorization { CBMCentralManagerMock.authorization }

    /// Advertises as connectable until `stopAdvertising()`.
    open override func startAdvertising(_ advertisementData: [String: Any]?) {
        if !isAdvertising { fields.withLock { $0.advertisement = advertisementData ?? [:] } }
        super.startAdvertising(advertisementData)
    }

    /// Requests another connection interval; a spec central records it.
    open override func setDesiredConnectionLatency(
        _ latency: CBMPeripheralManagerConnectionLatency, for central: CBMCentral
    ) {
        CentralDevice.spec(central.identifier, in: world)?.noteLatency(latency)
        super.setDesiredConnectionLatency(latency, for: central)
    }

    /// Publishes a service as it is now.
    ///
    /// A characteristic with a value must be read-only; otherwise the delegate receives `CBMError(.invalidParameters)`.
    open override func add(_ service: CBMMutableService) {
        let isPossible = service.mutables.allSatisfy { characteristic in
            characteristic.value == nil
                || characteristic.properties == .read
                    && characteristic.permissions.isDisjoint(with: [.writeable, .writeEncryptionRequired])
        }
        if isPossible { return super.add(service) }
        enqueue(
            { $0.peripheralManager(self, didAdd: service, error: CBMError(.invalidParameters)) }, otherwise: {})
    }
}
