public import CoreBluetooth

/// A device that this program plays: one class for the emulator and for a real adapter.
///
/// It publishes its servers' services through a `CBPeripheralManager` and advertises them. It publishes them anew
/// after the adapter was off. Any thread may use it; requests are answered on a queue of its own, one at a time.
///
///     let device = SimulatedDevice(name: "Heart Rate Monitor", servers: [HeartRateServer(), BatteryServer()])
///     try await device.start()
public final class SimulatedDevice: Sendable {
    /// Something that happens to the device.
    public enum Event: Sendable {
        /// The services are published.
        case published(services: [CBUUID])
        /// It advertises these services.
        case advertising(services: [CBUUID])
        /// A central read a value, or was refused.
        case read(central: UUID, service: CBUUID, characteristic: CBUUID, value: Data?, error: CBATTError.Code?)
        /// A central wrote a value, or was refused.
        case wrote(central: UUID, service: CBUUID, characteristic: CBUUID, value: Data, error: CBATTError.Code?)
        /// A central subscribed to a value.
        case subscribed(central: UUID, service: CBUUID, characteristic: CBUUID)
        /// A central does not subscribe to a value any more.
        case unsubscribed(central: UUID, service: CBUUID, characteristic: CBUUID)
        /// A value went to the subscribers.
        case notified(service: CBUUID, characteristic: CBUUID, value: Data)
        /// It could not be published, at first or when the adapter was on again.
        case failed(SimulatedDeviceError)
        /// The adapter's state changed.
        case stateChanged(CBManagerState)
    }

    /// The name that it advertises.
    public let name: String
    /// Its services, in the order in which they are published.
    public let servers: [any ProfileServer]
    private let core: SimulatedDeviceCore

    /// A device that is not on the air yet.
    ///
    /// - Parameters:
    ///   - name: What it advertises; a real adapter may go by its own name besides.
    ///   - servers: Its services.
    ///   - advertised: The services to advertise; nil is all. 31 bytes have room for a short name and few services.
    ///   - onEvent: Receives events, on the device's queue; must be quick.
    public init(
        name: String, servers: [any ProfileServer], advertising advertised: [CBUUID]? = nil,
        onEvent: (@Sendable (Event) -> Void)? = nil
    ) {
        self.name = name
        self.servers = servers
        core = SimulatedDeviceCore(
            name: name, servers: servers, advertised: advertised ?? servers.map(\.service), onEvent: onEvent)
    }

    deinit { core.stop() }

    #if canImport(Darwin)
    /// Goes on the air; waits until the adapter is on, and until the device advertises.
    ///
    /// - Throws: ``SimulatedDeviceError``, or `CancellationError`.
    public func start() async throws {
        try await core.start { delegate, queue in CBPeripheralManager(delegate: delegate, queue: queue) }
    }
    #else
    /// Goes on the air; waits until the adapter is on, and until the device advertises.
    ///
    /// `backend`: The radio; nil for the one that is chosen for the task or the process.
    /// - Throws: ``SimulatedDeviceError``, or `CancellationError`.
    public func start(on backend: CBBackendSelection? = nil) async throws {
        try await core.start { delegate, queue in
            guard let backend else { return CBPeripheralManager(delegate: delegate, queue: queue) }
            return CBPeripheralManager(backend: backend, delegate: delegate, queue: queue)
        }
    }
    #endif

    /// The characteristics whose values come each so often while somebody subscribes, once it has started.
    package var periodicCharacteristics: Set<CBUUID> {
        Set(servers.flatMap(\.values).filter { core.timers.isPeriodic($0) }.map(\.uuid))
    }

    /// Leaves the air: the advertisement, the services and the subscriptions end.
    ///
    /// It can start again.
    public func stop() { core.stop() }
}
