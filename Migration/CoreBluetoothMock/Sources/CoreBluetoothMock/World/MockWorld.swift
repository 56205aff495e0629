import BluetoothBackend
import BluetoothEmulator
import CoreBluetooth

/// A simulated world with its specs and managers: an emulator, and the data that the emulator does not have.
///
/// The emulator is retained by its managers, by the task that selected it, or by ``MockWorlds``; not by the world.
///
/// Thread rule: all members may be used from any thread.
final class MockWorld: @unchecked Sendable {
    private struct Fields {
        var devices: [SpecDevice] = []
        /// The identifiers of specs by all peers of the host that have had them.
        var identifiers: [PeerID: UUID] = [:]
        /// The number of devices that each identifier of a spec has had.
        var additions: [UUID: Int] = [:]
        var managers: [WeakReference<CBMCentralManagerMock>] = []
        var managerCount: UInt64 = 0
        var peripheralManagers: [WeakReference<CBMPeripheralManagerMock>] = []
        /// The identifiers of spec centrals, by those under which the host of the managers knows them.
        var centrals: [PeerID: UUID] = [:]
        var previews: [CBMPeripheralPreview] = []
        var authorization: CBMManagerAuthorization?
        var deviation = CBMProximity.Deviation.default
        var closures = SimulationClosures()
    }

    private(set) weak var emulator: Emulator?
    let hooks = HookQueue()
    // Invariant: mutable state is under this lock; `emulator` is set once.
    private let fields = Protected(Fields())

    init(_ emulator: Emulator) { self.emulator = emulator }

    /// Runs code of the app or of a test in which static calls find this world.
    func perform<Result>(_ body: () -> Result) -> Result {
        guard let emulator else { return body() }
        return CBManager.withBackend(.emulator(emulator)) { body() }
    }

    /// Runs a hook later, after those that were enqueued before; virtual time waits for it.
    func enqueueHook(_ hook: @escaping () -> Void) {
        let hold = emulator?.hold()
        hooks.enqueue { [self] in
            perform(hook)
            hold?.release()
        }
    }

    // MARK: The adapter

    /// Sets the state of the adapter for all managers.
    func setState(_ state: CBMManagerState) {
        guard let host = emulator?.host else { return }
        // This precedes the end of the links, so that the specs know the reason.
        if state != .poweredOn { adapterChanged(isOn: false) }
        switch state {
        case .poweredOn:
            host.setPower(true)
            host.setState(nil)
            devices.forEach { $0.linkOtherApp() }
            adapterChanged(isOn: true)
        case .poweredOff:
            host.setPower(false)
            host.setState(nil)
        case .unknown, .resetting, .unsupported, .unauthorized:
            host.setState(state.adapterState)
        }
    }

    private func adapterChanged(isOn: Bool) {
        for device in devices { device.spec.adapterChanged(isOn: isOn) }
        if !isOn { CentralDevice.specs(in: self).forEach { $0.adapterIsOff() } }
    }

    /// Returns the state that a manager shows: that of the adapter at once, but `.poweredOn` with the callback, as
    /// commands are carried out from then on.
    ///
    /// - Parameter reached: The state that the manager's queue has reached; `.unknown` before the first callback.
    func state(after reached: CBMManagerState) -> CBMManagerState {
        guard reached != .unknown, let host = emulator?.host else { return reached }
        let present = CBMManagerState(host.state)
        return present == .poweredOn ? reached : present
    }

    /// The simulated permission; nil without one.
    var authorization: CBMManagerAuthorization? { fields.withLock { $0.authorization } }

    /// Simulates a permission.
    func setAuthorization(_ authorization: CBMManagerAuthorization) {
        fields.withLock { $0.authorization = authorization }
        emulator?.host.setAuthorization(AuthorizationStatus(authorization))
    }

    /// The variation of signal strengths.
    var deviation: CBMProximity.Deviation {
        get { fields.withLock { $0.deviation } }
        set { fields.withLock { $0.deviation = newValue } }
    }

    /// The closures of the world.
    var closures: SimulationClosures { fields.withLock { $0.closures } }

    /// Changes the closures of the world.
    func changeClosures(_ body: (inout SimulationClosures) -> Void) { fields.withLock { body(&$0.closures) } }

    // MARK: Specs

    /// The devices of the specs, in order.
    var devices: [SpecDevice] { fields.withLock { $0.devices } }

    /// Replaces the peripherals of the world; those that stay restart their advertising.
    func setPeripherals(_ specs: [CBMPeripheralSpec]) {
        guard let emulator else { return }
        let known = devices
        var wanted: [SpecDevice] = []
        for spec in specs where !wanted.contains(where: { $0.spec === spec }) {
            wanted.append(known.first { $0.spec === spec } ?? SpecDevice(spec, in: self))
        }
        fields.withLock { [wanted] in $0.devices = wanted }
        for device in known where !wanted.contains(where: { $0 === device }) { dismiss(device) }
        for device in wanted {
            if known.contains(where: { $0 === device }) {
                device.advertise()
            } else {
                device.spec.join(device)
                device.add(to: emulator)
            }
            identify(device)
        }
    }

    /// Counts one more device of an identifier.
    ///
    /// - Returns: The number of earlier devices.
    func countAddition(of identifier: UUID) -> Int {
        fields.withLock { fields in
            defer { fields.additions[identifier, default: 0] += 1 }
            return fields.additions[identifier, default: 0]
        }
    }

    /// Records the identifier that apps see of a device.
    func identify(_ device: SpecDevice) {
        guard let peer = device.peer else { return }
        fields.withLock { $0.identifiers[peer] = device.spec.identifier }
    }

    /// Returns the identifier that apps see of a peer: that of its spec, or the emulator's.
    func identifier(of peer: UUID) -> UUID { fields.withLock { $0.identifiers[PeerID(peer)] } ?? peer }

    /// Returns the emulator's identifier for an identifier that apps see; nil for a spec without a device.
    func peer(of identifier: UUID) -> UUID? {
        if let device = devices.first(where: { $0.spec.identifier == identifier }) { return device.peer?.uuid }
        return fields.withLock { $0.identifiers.values.contains(identifier) } ? nil : identifier
    }

    /// Returns the device of a peer; nil for a peer without a spec.
    func device(of peer: UUID) -> SpecDevice? { devices.first { $0.peer == PeerID(peer) } }

    // MARK: Managers and previews

    /// Returns the variation of the signals that one more manager receives.
    func makeDeviation(seed: UInt64) -> SignalDeviation {
        let number = fields.withLock { fields in
            fields.managerCount += 1
            return fields.managerCount
        }
        return SignalDeviation(seed: seed, stream: number)
    }

    /// Adds a manager.
    func join(_ manager: CBMCentralManagerMock) {
        fields.withLock { fields in
            fields.managers.removeAll { $0.object == nil }
            fields.managers.append(WeakReference(manager))
        }
    }

    /// Adds a peripheral manager.
    func join(_ manager: CBMPeripheralManagerMock) {
        fields.withLock { fields in
            fields.peripheralManagers.removeAll { $0.object == nil }
            fields.peripheralManagers.append(WeakReference(manager))
        }
    }

    /// The peripheral managers, in the order of their creation.
    var peripheralManagers: [CBMPeripheralManagerMock] {
        fields.withLock { $0.peripheralManagers.compactMap(\.object) }
    }

    /// Returns the identifier that apps see of a central: that of its spec, or the emulator's.
    func identifier(ofCentral peer: UUID) -> UUID { fields.withLock { $0.centrals[PeerID(peer)] } ?? peer }

    /// Records the identifier of a spec central.
    func identify(central identifier: UUID, as peer: PeerID) { fields.withLock { $0.centrals[peer] = identifier } }

    /// Returns whether the host's identifier of a spec central is known.
    func knowsCentral(_ identifier: UUID) -> Bool { fields.withLock { $0.centrals.values.contains(identifier) } }

    /// The previews, which managers retrieve in place of the world's peripherals.
    var previews: [CBMPeripheralPreview] { fields.withLock { $0.previews } }

    /// Adds a preview.
    func add(_ preview: CBMPeripheralPreview) { fields.withLock { $0.previews.append(preview) } }

    /// Ends the simulation: managers lose the adapter permanently, and all devices are removed.
    func tearDown() {
        fields.withLock { $0.managers.compactMap(\.object) }.forEach { $0.end() }
        peripheralManagers.forEach { $0.end() }
        devices.forEach { dismiss($0) }
        // The previews are released outside the lock.
        let old = fields.withLock { fields in
            defer {
                fields.devices = []
                fields.managers = []
                fields.peripheralManagers = []
                fields.previews = []
                fields.authorization = nil
                fields.deviation = .default
            }
            return fields
        }
        withExtendedLifetime(old) {}
        emulator?.host.setAuthorization(.allowed)
        setState(.poweredOff)
    }

    /// Removes a device; the managers of this world are no longer connected to its spec.
    private func dismiss(_ device: SpecDevice) {
        device.remove()
        let managers = fields.withLock { Set($0.managers.compactMap(\.object).map { ObjectIdentifier($0) }) }
        device.spec.fields.withLock { spec in
            spec.devices.removeAll { $0.object == nil || $0.object === device }
            spec.managers.subtract(managers)
        }
    }
}

extension CBMPeripheralSpec {
    /// Records that the spec has a device in one more world.
    func join(_ device: SpecDevice) {
        fields.withLock { fields in
            fields.devices.removeAll { $0.object == nil }
            fields.devices.append(WeakReference(device))
            fields.isAdapterOff = false
        }
    }
}
