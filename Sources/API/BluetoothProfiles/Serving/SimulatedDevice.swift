public import AsyncBluetooth
import BluetoothSupport
public import CoreBluetooth

/// A device that this program simulates, on the emulator or on a real adapter.
///
/// It publishes its servers' services through a `PeripheralServer` and advertises them, and publishes them again after
/// the adapter was reset. Any thread may use it; requests are answered on its queue, one at a time, and at most 4,096
/// wait there: further ones are refused with `insufficientResources`.
///
///     let device = SimulatedDevice(name: "Heart Rate Monitor", servers: [HeartRateServer(), BatteryServer()])
///     try await device.start()
public final class SimulatedDevice: Sendable {
    /// An event at the device.
    public typealias Event = PeripheralServer.Event

    /// The advertised name.
    public let name: String
    /// The services, in the order of their publication.
    public let servers: [any ProfileServer]
    private let advertised: [CBUUID]
    private let onEvent: (@Sendable (Event) -> Void)?
    private let session = Lock<DeviceSession?>(nil)

    /// Creates a device that is not published yet.
    ///
    /// - Parameters:
    ///   - name: The advertised name; a real adapter may also show another name.
    ///   - servers: The services.
    ///   - advertised: The services to advertise; nil for all. 31 bytes have room for a short name and few services.
    ///   - onEvent: Receives events, on the device's queue or the thread that sends a value; must return quickly.
    public init(
        name: String, servers: [any ProfileServer], advertising advertised: [CBUUID]? = nil,
        onEvent: (@Sendable (Event) -> Void)? = nil
    ) {
        self.name = name
        self.servers = servers
        self.advertised = advertised ?? servers.map(\.service)
        self.onEvent = onEvent
    }

    deinit { stop() }

    /// Publishes the device; returns when it advertises.
    ///
    /// - Parameter backend: The backend; nil for the one that is selected for the task or the process. Linux only.
    /// - Throws: ``SimulatedDeviceError``, or `CancellationError`.
    public func start(on backend: CBBackendSelection? = nil) async throws {
        let new = DeviceSession(servers, onEvent)
        let isFree = session.withLock { session in
            if session == nil { session = new }
            return session === new
        }
        guard isFree else { throw SimulatedDeviceError.alreadyStarted }
        do {
            try await new.start(name: name, advertising: advertised, on: backend)
        } catch {
            end(new)
            throw error
        }
    }

    /// The characteristics that are notified periodically while a central subscribes; none before the start.
    package var periodicCharacteristics: Set<CBUUID> { session.withLock { $0 }?.periodicCharacteristics ?? [] }

    /// Withdraws the device: the advertisement, the services and the subscriptions end.
    ///
    /// The device can be started again.
    public func stop() {
        if let session = session.withLock({ $0 }) { end(session) }
    }

    private func end(_ ended: DeviceSession) {
        session.withLock { if $0 === ended { $0 = nil } }
        ended.stop()
    }
}

/// The reason that a device could not be published.
public enum SimulatedDeviceError: Error, CustomStringConvertible {
    /// The adapter does not support the peripheral role, or is not available now.
    case unavailable(CBManagerState)
    /// The device is already published.
    case alreadyStarted
    /// The device was stopped during its start.
    case stopped
    /// The system refused a service.
    case serviceRefused(CBUUID, any Error)
    /// The system refused the advertisement.
    case advertisingRefused(any Error)

    /// One line for people.
    public var description: String {
        switch self {
        case .unavailable(let state): "the adapter is \(state)"
        case .alreadyStarted: "the device is already published"
        case .stopped: "the device was stopped"
        case .serviceRefused(let uuid, let error): "service \(uuid.uuidString): \(error.localizedDescription)"
        case .advertisingRefused(let error): "advertising: \(error.localizedDescription)"
        }
    }
}
