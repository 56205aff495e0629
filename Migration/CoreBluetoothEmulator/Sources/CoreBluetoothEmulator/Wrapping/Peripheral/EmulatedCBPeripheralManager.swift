import BluetoothEmulator
public import CoreBluetooth

// Invariant: `fields` are accessed under their lock; the rest is constant.
/// A peripheral of the emulated world: services that centrals use, advertising, L2CAP channels.
///
/// Each peripheral manager is a separate device. Callbacks run on the queue given at initialization, one at a time.
/// Methods may be called from any thread, and are logged and ignored in any state but `.poweredOn`. Releasing the
/// manager ends its links.
public final class EmulatedCBPeripheralManager: NSObject, @unchecked Sendable {
    struct Fields {
        weak var delegate: (any EmulatedCBPeripheralManagerDelegate)?
        /// The manager of CoreBluetooth; nil once the world has ended.
        var core: CBPeripheralManager?
        var published: PublishedServices
        /// The centrals by their identifiers on this host.
        var centrals: [UUID: EmulatedCBCentral] = [:]
        var advertisement: EmulatedAdvertisement?
        /// The local name of the last advertisement.
        var advertisedName: String?
        var channels = ChannelNumbers()
        var loggedKeys: Set<String> = []
        /// Whether `willRestoreState` is still to be called, with nothing.
        var mustReportEmptyState: Bool
    }

    /// The identifier by which centrals know the manager.
    public let identifier: UUID
    let world: EmulatedWorld
    let place: EmulatedWorld.Place
    let queue: DispatchQueue
    /// The state that is restored; nil without one.
    let preserved: PreservedPeripheral?
    let start: ManagerStart
    /// The position of its mean signal strength in the configured range, 0…1.
    private let signal: Double
    let fields: Guarded<Fields>
    private let bridge = PeripheralManagerBridge()

    /// Creates a manager in the current world.
    ///
    /// - Parameters:
    ///   - delegate: The delegate; not retained.
    ///   - queue: The queue of all callbacks; nil is the main queue.
    ///   - options: `CBPeripheralManagerOptionRestoreIdentifierKey` counts while
    ///     ``EmulatorConfiguration/stateRestorationEnabled``.
    public init(
        delegate: (any EmulatedCBPeripheralManagerDelegate)?, queue: DispatchQueue?, options: [String: Any]? = nil
    ) {
        let (world, emulator) = EmulatedWorld.currentWithEmulator
        var options = options ?? [:]
        if !world.configuration.stateRestorationEnabled { options[CBPeripheralManagerOptionRestoreIdentifierKey] = nil }
        let restoreIdentifier = options[CBPeripheralManagerOptionRestoreIdentifierKey] as? String
        self.world = world
        self.queue = queue ?? .main
        preserved = restoreIdentifier.flatMap(world.takePreservedPeripheral)
        place = world.place(for: preserved, restoreIdentifier, in: emulator)
        identifier = place.identifier
        start = ManagerStart(on: place.host, after: world.configuration.stateUpdateDelay)
        signal = world.makeFraction()
        let isEmpty = restoreIdentifier != nil && preserved == nil && !world.configuration.followsApple
        let isSameHost = preserved?.identifier == place.identifier
        let published = PublishedServices(nextNumber: isSameHost ? preserved?.nextServiceNumber ?? 0 : 0)
        fields = Guarded(Fields(delegate: delegate, published: published, mustReportEmptyState: isEmpty))
        super.init()
        bridge.manager = self
        world.register(self, as: identifier)
        // Set under the lock, so that a callback on another thread finds the core.
        fields.withLock {
            $0.core = CBPeripheralManager(
                backend: .emulator(host: place.host), delegate: bridge, queue: queue, options: options)
        }
        apply(world.configuration)
    }

    deinit {
        place.host.peripheral?.disconnect()
        failChannelCommands()
    }

    var core: CBPeripheralManager? { fields.withLock { $0.core } }

    /// The delegate; weak, and looked up at each callback.
    public var delegate: (any EmulatedCBPeripheralManagerDelegate)? {
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

    /// Whether the manager advertises.
    public var isAdvertising: Bool { core.map { start.isActive ?? $0.isAdvertising } ?? false }

    /// Always `.authorized`: no user is asked.
    @available(*, deprecated, message: "Use CBManager.authorization instead")
    public class func authorizationStatus() -> CBPeripheralManagerAuthorizationStatus { .authorized }

    // MARK: Services

    /// Publishes a service as it is now: `peripheralManager(_:didAdd:error:)`.
    ///
    /// The errors are those of `CBPeripheralManager.add(_:)`; descriptors of any type are allowed.
    public func add(_ service: EmulatedCBMutableService) { start.perform { [weak self] in self?.publish(service) } }

    private func publish(_ service: EmulatedCBMutableService) {
        let isProtected = world.configuration.requirePairing
        let added = fields.withLock { fields -> CBMutableService in
            if let known = fields.published.core(of: service) { return known }
            // A service that is not published leads to CoreBluetooth's error.
            let included = (service.includedServices ?? []).map {
                fields.published.core(of: $0) ?? CBMutableService(type: $0.uuid, primary: $0.isPrimary)
            }
            let core = service.makeCore(included: included, isProtected: isProtected)
            fields.published.append(service, core, of: self)
            return core
        }
        core?.add(added)
    }

    /// Withdraws a service, if it is published.
    public func remove(_ service: EmulatedCBMutableService) { start.perform { [weak self] in self?.withdraw(service) } }

    private func withdraw(_ service: EmulatedCBMutableService) {
        guard let removed = fields.withLock({ $0.published.core(of: service) }) else { return }
        core?.remove(removed)
        fields.withLock { $0.published.remove(removed) }
    }

    /// Withdraws all services.
    public func removeAllServices() { start.perform { [weak self] in self?.withdrawAll() } }

    private func withdrawAll() {
        core?.removeAllServices()
        fields.withLock { $0.published.removeAll() }
    }

    /// The services in the order of their publication.
    var publishedServices: [EmulatedCBMutableService] { fields.withLock { $0.published.services } }

    /// Returns whether it publishes one of these services.
    func offers(_ services: [CBUUID]) -> Bool { publishedServices.contains { services.contains($0.uuid) } }

    // MARK: Advertising

    /// Advertises until `stopAdvertising()`: `peripheralManagerDidStartAdvertising(_:error:)`.
    ///
    /// - Parameter advertisementData: The dictionary that centrals receive, with any keys. iOS advertises only name and
    ///   services, and a log line names the others; if Apple's rule applies, they are omitted.
    public func startAdvertising(_ advertisementData: [String: Any]?) {
        start.perform(isActive: true) { [weak self] in self?.advertise(advertisementData) }
    }

    private func advertise(_ advertisementData: [String: Any]?) {
        guard let core else { return logMisuse("\(self) is of a world that has ended") }
        if core.state == .poweredOn, !core.isAdvertising {
            let new = EmulatedAdvertisement(
                advertisementData, number: world.nextAdvertisement(), world.configuration,
                txPower: { world.makeNumber(in: EmulatedAdvertisement.txPowers) })
            logKeys(EmulatedAdvertisement.disallowedKeys(of: advertisementData))
            setAdvertisement(new)
        }
        core.startAdvertising(advertisementData?.filter { EmulatedAdvertisement.isAllowed($0.key) })
    }

    /// Stops advertising; does nothing if it does not advertise.
    public func stopAdvertising() { start.perform(isActive: false) { [weak self] in self?.core?.stopAdvertising() } }

    /// Passes the content of later advertisements to the emulator.
    func setAdvertisement(_ new: EmulatedAdvertisement) {
        fields.withLock { fields in
            fields.advertisement = new
            fields.advertisedName = new.localName ?? fields.advertisedName
        }
        if let name = new.localName { place.host.peripheral?.rename(name) }
        world.advertise(new, on: place.host)
    }

    /// The present advertisement, or the last one.
    var advertisement: EmulatedAdvertisement? { fields.withLock { $0.advertisement } }

    var advertisedName: String? { fields.withLock { $0.advertisedName } }

    /// Logs each key once.
    private func logKeys(_ keys: [String]) {
        for key in keys where fields.withLock({ $0.loggedKeys.insert(key).inserted }) {
            logWarning("iOS does not advertise \(key)")
        }
    }

    // MARK: The world

    /// Applies the settings of the device.
    func apply(_ configuration: EmulatorConfiguration) {
        place.host.setMaximumMTU(configuration.initialMTU)
        if let advertisement { world.advertise(advertisement, on: place.host) }
        guard let device = place.host.peripheral else { return }
        device.setRSSI(meanRSSI(configuration))
        device.clearFaults()
        for fault in configuration.faults { device.inject(fault) }
    }

    private func meanRSSI(_ configuration: EmulatorConfiguration) -> Int {
        let range = configuration.rssiRange
        return range.lowerBound + Int((Double(range.count - 1) * signal).rounded())
    }

    /// Returns a signal strength as centrals measure it, in dBm.
    func measureRSSI() -> Int {
        let configuration = world.configuration
        let (range, variation) = (configuration.rssiRange, max(0, configuration.rssiVariation))
        let measured = meanRSSI(configuration) + world.makeNumber(in: -variation...variation)
        return min(range.upperBound, max(range.lowerBound, measured))
    }

    /// Ends the manager with the world: its state is unknown.
    func end() {
        place.host.peripheral?.disconnect()
        // Released outside the lock.
        let core = fields.withLock { fields in
            defer { fields.core = nil }
            return fields.core
        }
        withExtendedLifetime(core) {}
        failChannelCommands()
    }
}
