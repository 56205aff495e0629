import BluetoothBackend
import BluetoothEmulator
import CoreBluetooth

/// The emulated device of a spec in one world.
///
/// It does not retain the emulator, which owns it through the device's handler.
///
/// Thread rule: all members may be used from any thread.
final class SpecDevice: @unchecked Sendable {
    private struct Fields {
        /// The identifier under which the emulated host knows the device.
        var peer: PeerID?
        /// The number of the device in the emulator.
        var number: UInt32?
        var layout = ServerLayout()
        var sets: [AdvertisedSet] = []
        var timers: [any BackendTimer] = []
        /// The number of times that advertising has begun.
        var generation = 0
        /// The changes of the services so far.
        var serviceChanges: [ServiceChange] = []
        /// The reason for the end of a link that the simulation is about to end.
        var reason: (any Error)?
    }

    let spec: CBMPeripheralSpec
    private(set) weak var world: MockWorld?
    // Invariant: mutable state is under this lock; `world` is set once.
    private let fields = Protected(Fields())

    init(_ spec: CBMPeripheralSpec, in world: MockWorld) {
        self.spec = spec
        self.world = world
    }

    /// The device; nil once it was removed, or the emulator has ended.
    var device: EmulatedDevice? {
        guard let number = fields.withLock({ $0.number }) else { return nil }
        return world?.emulator?.device(number: number)
    }

    /// The identifier under which the emulated host knows the device.
    var peer: PeerID? { fields.withLock { $0.peer } }

    /// The server's objects.
    var layout: ServerLayout { fields.withLock { $0.layout } }

    // MARK: The air

    /// Adds the device to the emulator in the present state of the spec.
    func add(to emulator: Emulator) {
        let state = spec.fields.withLock { $0 }
        var layout = ServerLayout()
        let services = layout.add(state.connection?.services ?? [])
        fields.withLock { [layout] in $0.layout = layout }
        do {
            let peripheral = try EmulatedPeripheral(
                PeripheralDescription(state, services: services, address: address(for: state.identifier)),
                handler: SpecHandler(self))
            let device = try emulator.add(peripheral)
            fields.withLock { fields in
                fields.peer = device.identifier(onHost: emulator.host.name)
                fields.number = device.number
            }
        } catch {
            return log.error("the peripheral \(state.identifier) is not simulated: \(error)")
        }
        if state.isKnown { remember() }
        linkOtherApp()
        advertise()
    }

    private func address(for identifier: UUID) -> DeviceAddress {
        DeviceAddress(of: identifier, generation: world?.countAddition(of: identifier) ?? 0)
    }

    /// Removes the device from the emulator.
    func remove() {
        stopAdvertising()
        device?.remove()
        fields.withLock { ($0.peer, $0.number) = (nil, nil) }
    }

    /// Replaces the device by one with the present identifier of the spec.
    func readd() {
        guard let emulator = world?.emulator else { return }
        remove()
        add(to: emulator)
    }

    /// Makes the device known to the host.
    func remember() {
        if let device { world?.emulator?.host.remember(device) }
    }

    /// Links the device with another app of the host, if the spec requires it and the adapter is on.
    func linkOtherApp() {
        guard spec.fields.withLock({ $0.isUsedByOtherApp }), let device else { return }
        world?.emulator?.host.connectOtherApp(to: device, withoutAdvertising: true)
    }

    // MARK: Advertising

    /// Restarts all advertising sets of the spec, whose delays count from now on.
    func advertise() {
        guard let device else { return }
        let state = spec.fields.withLock { $0 }
        let acceptsConnections = state.connection?.delegate != nil
        let sets = (state.advertisement ?? []).map { AdvertisedSet($0, acceptsConnections: acceptsConnections) }
        if acceptsConnections, !state.isUsedByOtherApp, !sets.contains(where: \.description.isConnectable) {
            log.notice(
                """
                the peripheral \(state.identifier) has no connectable advertising set, and cannot be connected: \
                CBMAdvertisementDataIsConnectable is missing
                """)
        }
        stopAdvertising()
        fields.withLock { $0.sets = sets }
        for (index, set) in sets.enumerated() {
            do {
                try device.setAdvertising(set.description, set: index, firstPacketAfter: set.firstPacket)
            } catch {
                log.error("an advertising set of the peripheral \(state.identifier) is left out: \(error)")
            }
            if let delay = set.delay { enable(index, after: delay, every: set.period) }
        }
    }

    private func stopAdvertising() {
        let timers = fields.withLock { fields in
            defer {
                fields.timers = []
                fields.sets = []
                fields.generation += 1
            }
            return fields.timers
        }
        timers.forEach { $0.cancel() }
        device?.setAdvertising(false)
    }

    private func enable(_ index: Int, after delay: Duration, every period: Duration?) {
        guard let clock = world?.emulator?.clock else { return }
        let generation = fields.withLock { $0.generation }
        let timer = clock.schedule(after: delay) { [weak self] in
            guard let self, self.fields.withLock({ $0.generation }) == generation else { return }
            self.device?.setAdvertising(true, set: index)
            if let period { self.enable(index, after: period, every: period) }
        }
        fields.withLock { $0.timers.append(timer) }
    }

    /// Returns a report with the data that packets cannot contain.
    func completed(_ report: [String: Any]) -> [String: Any] {
        var report = report
        for set in fields.withLock({ $0.sets }) { set.complete(&report) }
        return report
    }

    // MARK: Values and services

    /// Notifies the subscribers of a characteristic of a value, one connection interval later.
    func notify(_ value: Data, of characteristic: CBMCharacteristicMock) {
        let (number, position) = fields.withLock { ($0.number, $0.layout.position(of: characteristic)) }
        guard let number, let position else { return }
        world?.emulator?.device(number: number)?.notify(at: position, value: value)
    }

    /// Replaces the services of the device by those of the spec, with Service Changed to the connected centrals.
    func updateServices(_ services: [CBMServiceMock], name: String?) {
        let (gone, added) = fields.withLock { fields in
            let (gone, added) = (fields.layout.keepOnly(services), fields.layout.add(services))
            let count = gone.count + added.count
            if count > 0 { fields.serviceChanges.append(ServiceChange(removals: gone.count, count: count)) }
            return (gone, added)
        }
        guard let device else { return }
        for number in gone { device.removeService(number: number) }
        for service in added {
            do {
                try device.addService(service)
            } catch {
                log.error("a service of the peripheral \(spec.identifier) is left out: \(error)")
            }
        }
        if let name { device.rename(name, isAnnounced: true) }
    }

    /// The number of changes of the services.
    var serviceChangeCount: Int { fields.withLock { $0.serviceChanges.count } }

    /// Returns a change of the services by its number; nil for one that was not simulated with the spec.
    func serviceChange(_ number: Int) -> ServiceChange? {
        fields.withLock { $0.serviceChanges.indices.contains(number) ? $0.serviceChanges[number] : nil }
    }

    // MARK: Links

    /// Ends all links with an error.
    ///
    /// The peripheral falls silent with `connectionTimeout`, and centrals detect it after the supervision timeout.
    func disconnect(with error: any Error) {
        fields.withLock { $0.reason = error }
        switch (error as? CBMError)?.code {
        case .connectionTimeout?: device?.reset(staysOnAir: true)
        case .peripheralDisconnected?: device?.disconnect()
        default: device?.disconnect(with: OpaqueError(error))
        }
    }

    /// Loses all links, as by a crash.
    func reset() {
        fields.withLock { $0.reason = CBMError(.connectionTimeout) }
        device?.reset(staysOnAir: true)
    }

    /// Returns the reason for the end of the last link; nil if the app ended it.
    func takeReason() -> (any Error)? {
        let reason = fields.withLock { fields in
            defer { fields.reason = nil }
            return fields.reason
        }
        return reason ?? (spec.proximity.proximity == .outOfRange ? CBMError(.connectionTimeout) : nil)
    }
}

/// A change of the services, which the emulator announces in parts, each with one service, removals first.
struct ServiceChange {
    let removals: Int
    let count: Int
}

extension PeripheralDescription {
    /// Creates the device of a spec, with its services and without its advertising.
    init(_ state: SpecState, services: [ServiceDescription], address: DeviceAddress) {
        let interval = Duration(seconds: state.connection?.interval ?? 0, clampedTo: .zero ... .seconds(4))
        let timeout = Duration(
            seconds: state.connection?.supervisionTimeout ?? 4, clampedTo: .milliseconds(100) ... .seconds(32))
        self.init(
            name: (state.name ?? "").prefix(utf8Bytes: 248), address: address,
            services: services, proximity: state.proximity.proximity, maximumMTU: state.connection?.mtu ?? 23,
            connectionInterval: interval, supervisionTimeout: max(timeout, interval * 2 + .milliseconds(1)))
    }
}

extension String {
    /// Returns the longest prefix that fits into a number of bytes.
    func prefix(utf8Bytes limit: Int) -> String {
        var result = self
        while result.utf8.count > limit { result.removeLast() }
        return result
    }
}
