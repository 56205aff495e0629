import AsyncBluetooth
import BluetoothSupport
public import CoreBluetooth

/// A service of a simulated device: its values and their behavior.
///
/// One implementation runs in a ``SimulatedDevice`` on the emulator and on a real adapter.
public protocol ProfileServer: Sendable {
    /// The service's UUID.
    var service: CBUUID { get }

    /// The values, in the order of their characteristics.
    var values: [any ServedAttribute] { get }

    /// Called when the device starts; a server schedules its periodic work here.
    func start(_ context: ServerContext)
}

extension ProfileServer {
    /// Schedules nothing.
    public func start(_ context: ServerContext) {}
}

/// A server's access to its device: the time, and work that is repeated while a central subscribes.
public struct ServerContext: Sendable {
    /// The session; nil once the device is stopped, since a server may keep its context.
    let session: @Sendable () -> DeviceSession?

    /// The time since the backend's origin, real or the emulator's; zero once the device is stopped.
    public var now: Duration { session()?.server?.elapsedTime ?? .zero }

    /// The date of the same clock; the system's once the device is stopped.
    public var date: Date { session()?.server?.date ?? Date() }

    /// Calls `body` after each `interval` while at least one central subscribes to a value.
    ///
    /// Call it in ``ProfileServer/start(_:)``. The first call is one interval after the first subscription. The calls
    /// run on the device's queue, one at a time; virtual time waits for them.
    ///
    /// - Parameters:
    ///   - interval: Evaluated before each call; nil or zero ends the calls until the next first subscription.
    ///   - value: The value whose subscriptions count; it has at most one repetition.
    ///   - body: Runs after each interval.
    public func `repeat`(
        every interval: @escaping @Sendable () -> Duration?, whileSubscribedTo value: any ServedAttribute,
        _ body: @escaping @Sendable () -> Void
    ) {
        session()?.repeat(DeviceSession.PeriodicJob(interval: interval, body: body), whileSubscribedTo: value)
    }

    /// Whether a central subscribes to a value.
    public func isSubscribed(to value: any ServedAttribute) -> Bool { session()?.isSubscribed(to: value) ?? false }
}

/// State under a lock that the closures of a server share.
final class SharedState<Value: Sendable>: Sendable {
    private let value: Lock<Value>

    init(_ value: Value) { self.value = Lock(value) }

    func withLock<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        value.withLock { value in body(&value) }
    }
}

/// The profiles that this package simulates, by name.
public enum StandardProfile: String, CaseIterable, Sendable {
    /// Battery.
    case battery
    /// Device Information.
    case deviceInformation = "device-information"
    /// Heart Rate.
    case heartRate = "heart-rate"
    /// Health Thermometer.
    case healthThermometer = "health-thermometer"
    /// Current Time.
    case currentTime = "current-time"
    /// Cycling Speed and Cadence.
    case cyclingSpeedAndCadence = "cycling-speed-and-cadence"
    /// Running Speed and Cadence.
    case runningSpeedAndCadence = "running-speed-and-cadence"
    /// Environmental Sensing.
    case environmentalSensing = "environmental-sensing"
    /// Nordic UART.
    case nordicUART = "nordic-uart"

    /// The UUID of the service.
    public var service: CBUUID { makeServer().service }

    /// Creates a server with plausible default values.
    public func makeServer() -> any ProfileServer {
        switch self {
        case .battery: BatteryServer()
        case .deviceInformation:
            DeviceInformationServer(
                DeviceInformationValues(
                    manufacturer: "swift-corebluetooth", model: "Simulated Device", firmwareRevision: "1.0"))
        case .heartRate: HeartRateServer()
        case .healthThermometer: HealthThermometerServer()
        case .currentTime: CurrentTimeServer()
        case .cyclingSpeedAndCadence: CyclingSpeedAndCadenceServer()
        case .runningSpeedAndCadence: RunningSpeedAndCadenceServer()
        case .environmentalSensing: EnvironmentalSensingServer()
        case .nordicUART: NordicUARTServer()
        }
    }

    /// The default name of a device with only this profile: "Heart Rate".
    public var deviceName: String {
        switch self {
        case .nordicUART: "Nordic UART"
        default:
            rawValue.split(separator: "-").map { $0 == "and" ? "and" : $0.prefix(1).uppercased() + $0.dropFirst() }
                .joined(separator: " ")
        }
    }
}
