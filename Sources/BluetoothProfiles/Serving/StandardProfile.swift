public import CoreBluetooth

/// The profiles that this package plays, by name.
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

    /// The service.
    public var service: CBUUID { makeServer().service }

    /// A server with values that make sense by themselves.
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

    /// The name of a device that has nothing else: "Heart Rate".
    public var deviceName: String {
        switch self {
        case .nordicUART: "Nordic UART"
        default:
            rawValue.split(separator: "-").map { $0 == "and" ? "and" : $0.prefix(1).uppercased() + $0.dropFirst() }
                .joined(separator: " ")
        }
    }
}
