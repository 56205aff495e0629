import BluetoothEmulator
public import CoreBluetooth

// Invariant: `fields` are accessed under their lock; the rest is constant.
/// A peripheral as a central manager knows it: a peripheral manager, or another device of the emulated world.
///
/// Created by a central manager, which retains one object of each. Callbacks run on the manager's queue; methods may be
/// called from any thread, and are logged and ignored while the peripheral is not connected.
///
/// Commands take the attributes that were discovered on this peripheral. They also accept those of its peripheral
/// manager, and discover them first if necessary.
public final class EmulatedCBPeripheral: NSObject, EmulatedCBPeer, @unchecked Sendable {
    struct Fields {
        weak var delegate: (any EmulatedCBPeripheralDelegate)?
        weak var manager: EmulatedCBCentralManager?
        /// The name that a test has set; nil without one.
        var name: String??
        /// The name that the delegate knows.
        var reportedName: String?
        var state: CBPeripheralState?
        var takesWritesWithoutResponse = true
        /// The objects of the present link.
        var services: [ObjectIdentifier: EmulatedCBService] = [:]
        var characteristics: [ObjectIdentifier: EmulatedCBCharacteristic] = [:]
        var requests = RequestLedger()
        /// The completions of the bus that wait for the link.
        var waitingForLink: [(Result<Void, any Error>) -> Void] = []
        /// The completions that wait for its end.
        var waitingForEnd: [() -> Void] = []
    }

    /// The identifier of its peripheral manager; for another device, that on this host.
    public let identifier: UUID
    /// Whether it is a peripheral manager; false for another device.
    private let isManaged: Bool
    /// The identifier of its central manager.
    let centralManagerIdentifier: UUID
    let world: EmulatedWorld
    let core: CBPeripheral
    let fields: Guarded<Fields>
    private let bridge = PeripheralBridge()

    init(_ core: CBPeripheral, of manager: EmulatedCBCentralManager) {
        self.core = core
        world = manager.world
        centralManagerIdentifier = manager.identifier
        let server = world.peripheral(knownAs: core.identifier, onHost: manager.place.host.name)
        isManaged = server != nil
        identifier = server?.identifier ?? core.identifier
        fields = Guarded(Fields(manager: manager))
        super.init()
        bridge.peripheral = self
        core.delegate = bridge
        _ = noteName()
    }

    /// - Returns: Whether the name differs from the one that the delegate knows: the emulator's may be shorter.
    func noteName() -> Bool {
        let present = name
        return fields.withLock { fields in
            defer { fields.reportedName = present }
            return fields.reportedName != present
        }
    }

    var manager: EmulatedCBCentralManager? { fields.withLock { $0.manager } }

    /// The peripheral manager, if it is one and alive.
    var server: EmulatedCBPeripheralManager? { isManaged ? world.peripheral(identifier) : nil }

    /// The identifier of the peripheral manager; ``identifier`` for another device.
    var peripheralManagerIdentifier: UUID { identifier }

    /// The delegate; weak, and looked up at each callback.
    public var delegate: (any EmulatedCBPeripheralDelegate)? {
        get { fields.withLock { $0.delegate } }
        set { fields.withLock { $0.delegate = newValue } }
    }

    /// The last advertised name; nil for a peripheral manager that advertised none.
    ///
    /// A value that is set here applies only to this object.
    public var name: String? {
        get {
            if let name = fields.withLock({ $0.name }) { return name }
            if let server { return server.advertisedName }
            return core.name
        }
        set { fields.withLock { $0.name = .some(newValue) } }
    }

    /// The state of the connection with this manager.
    public var state: CBPeripheralState {
        let (state, manager) = fields.withLock { ($0.state, $0.manager) }
        guard manager?.core != nil else { return .disconnected }
        return state ?? core.state
    }

    /// The services that were discovered on this connection; nil before any discovery.
    public var services: [EmulatedCBService]? { core.services?.map(service) }

    /// Whether a write without response would be accepted now.
    ///
    /// When it becomes true again, `peripheralIsReady(toSendWriteWithoutResponse:)` is called. If it is set to false,
    /// it stays false.
    public var canSendWriteWithoutResponse: Bool {
        get {
            fields.withLock { $0.takesWritesWithoutResponse } && core.canSendWriteWithoutResponse
                && world.hasRoom(.writes(link))
        }
        set { fields.withLock { $0.takesWritesWithoutResponse = newValue } }
    }

    /// The ATT MTU of the link in bytes; without a link, that of a new one.
    public var mtu: Int {
        guard state == .connected else { return world.configuration.initialMTU }
        return (core.value(forKey: "mtuLength") as? NSNumber)?.intValue ?? world.configuration.initialMTU
    }

    /// Returns the most bytes that one write takes: the MTU less 3; 512 with response if Apple's rule applies.
    public func maximumWriteValueLength(for type: CBCharacteristicWriteType) -> Int {
        world.configuration.followsApple ? core.maximumWriteValueLength(for: type) : mtu - 3
    }

    /// The identifier, the name and the state.
    public override var description: String {
        "<\(Self.self): identifier = \(identifier), name = \(name ?? "nil"), state = \(state)>"
    }

    /// The key of the link with this central.
    var link: LinkTables.Pair { LinkTables.Pair(central: centralManagerIdentifier, peripheral: identifier) }

    /// Returns a signal strength within the configured range; that of another device is unchanged.
    func clamped(_ rssi: NSNumber) -> NSNumber {
        guard isManaged else { return rssi }
        let range = world.configuration.rssiRange
        return NSNumber(value: min(range.upperBound, max(range.lowerBound, rssi.intValue)))
    }
}
