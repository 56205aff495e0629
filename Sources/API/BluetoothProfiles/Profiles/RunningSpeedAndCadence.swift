public import CoreBluetooth

/// The service Running Speed and Cadence (1814): its characteristics.
///
/// Source: Running Speed and Cadence Service 1.0.
public enum RunningSpeedAndCadenceService: SpeedSensorService {
    /// The service's UUID.
    public static let uuid = CBUUID(string: "1814")
    /// Speed and cadence (2A53).
    public static let measurement = GATTCharacteristic<RSCMeasurement>("2A53", in: "1814", .notify)
    /// The sensor's features (2A54).
    public static let feature = GATTCharacteristic<RSCFeature>("2A54", in: "1814", .read)
    /// The sensor's location (2A5D).
    public static let sensorLocation = GATTCharacteristic<SensorLocation>("2A5D", in: "1814", .read)
    /// Requests to the sensor, answered by indications (2A55).
    public static let controlPoint = GATTCharacteristic<SCControlPointRequest>(
        CBUUID(string: "2A55"), in: uuid, [.write, .indicate])
}

/// A simulated running sensor.
///
/// While a central subscribes, it notifies each second a constant speed and cadence, and the distance since the start.
public final class RunningSpeedAndCadenceServer: ProfileServer {
    /// The notified measurement.
    public let measurement = ServedValue(RunningSpeedAndCadenceService.measurement)
    /// The sensor's features.
    public let feature = ServedValue(
        RunningSpeedAndCadenceService.feature,
        [.strideLength, .totalDistance, .walkingOrRunning, .multipleSensorLocations])
    private let sensor: SpeedSensorServer
    private let speed256: UInt16
    private let cadence: UInt8
    /// The distance in units of 1/256 of 0.1 m, so that no part is lost.
    private let distance: SharedState<UInt64>

    /// Creates a sensor of a runner.
    ///
    /// - Parameters:
    ///   - speed: Meters per second, 0...255; more than 2 counts as running.
    ///   - cadence: Steps per minute of one foot.
    ///   - locations: The possible locations of the sensor; the first one is the initial one.
    /// - Throws: ``GATTValueError`` if the speed is out of its range.
    public convenience init(
        speed: Double, cadence: UInt8 = 80, locations: [SensorLocation] = [.inShoe, .topOfShoe, .hip]
    ) throws(GATTValueError) {
        guard (0...255).contains(speed) else {
            throw RSCMeasurement.outOfRange(speed, "Instantaneous Speed", 0...255)
        }
        self.init(speed256: UInt16(speed * 256), cadence: cadence, locations: locations)
    }

    /// Creates a sensor of a runner at 2.5 m/s.
    ///
    /// - Parameters:
    ///   - cadence: Steps per minute of one foot.
    ///   - locations: The possible locations of the sensor; the first one is the initial one.
    public convenience init(cadence: UInt8 = 80, locations: [SensorLocation] = [.inShoe, .topOfShoe, .hip]) {
        self.init(speed256: 640, cadence: cadence, locations: locations)
    }

    private init(speed256: UInt16, cadence: UInt8, locations: [SensorLocation]) {
        let distance = SharedState<UInt64>(0)
        self.distance = distance
        self.speed256 = speed256
        self.cadence = cadence
        sensor = SpeedSensorServer(locations: locations, in: RunningSpeedAndCadenceService.uuid) { value in
            distance.withLock { $0 = UInt64(value) * 256 }
        }
    }

    /// The UUID of the service Running Speed and Cadence.
    public var service: CBUUID { RunningSpeedAndCadenceService.uuid }
    /// The measurement, the feature, the location and the control point.
    public var values: [any ServedAttribute] { [measurement, feature, sensor.location, sensor.controlPoint] }

    /// Notifies measurements while a central subscribes.
    public func start(_ context: ServerContext) {
        context.repeat(every: { .seconds(1) }, whileSubscribedTo: measurement) { [self] in
            let decimetres = distance.withLock { distance -> UInt32 in
                distance += UInt64(speed256) * 10
                return UInt32(truncatingIfNeeded: distance / 256)
            }
            // A stride is two steps, one of each foot; the field takes 655.35 m at most.
            let stride = cadence == 0 ? 0 : Int(speed256) * 6000 / 256 / Int(cadence)
            measurement.send(
                RSCMeasurement(
                    speed256: speed256, cadence: cadence, strideLength: UInt16(clamping: stride),
                    totalDistance: decimetres, isRunning: speed256 > 2 * 256))
        }
    }
}
