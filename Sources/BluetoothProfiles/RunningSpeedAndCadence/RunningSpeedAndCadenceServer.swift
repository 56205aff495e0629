public import CoreBluetooth

/// A runner's sensor that this program plays.
///
/// While a central subscribes, it notifies each second an even speed and cadence, and the distance since the start.
public final class RunningSpeedAndCadenceServer: ProfileServer {
    /// What is notified.
    public let measurement = ServedValue(RunningSpeedAndCadenceService.measurement)
    /// What the sensor can do.
    public let feature = ServedValue(
        RunningSpeedAndCadenceService.feature,
        [.strideLength, .totalDistance, .walkingOrRunning, .multipleSensorLocations])
    private let sensor: SpeedSensorServer
    private let speed256: UInt16
    private let cadence: UInt8
    /// In units of 1/256 of 0.1 m, so that no part is lost.
    private let distance: SharedState<UInt64>

    /// A runner.
    ///
    /// - Parameters:
    ///   - speed: Metres per second, 0...255; above 2 it runs.
    ///   - cadence: Steps per minute of one foot.
    ///   - locations: Where the sensor can sit; the first is where it is at first.
    /// - Throws: That the speed is out of its range.
    public convenience init(
        speed: Double, cadence: UInt8 = 80, locations: [SensorLocation] = [.inShoe, .topOfShoe, .hip]
    ) throws(GATTValueError) {
        guard (0...255).contains(speed) else {
            throw RSCMeasurement.outOfRange(speed, "Instantaneous Speed", 0...255)
        }
        self.init(speed256: UInt16(speed * 256), cadence: cadence, locations: locations)
    }

    /// A runner at 2.5 m/s.
    ///
    /// - Parameters:
    ///   - cadence: Steps per minute of one foot.
    ///   - locations: Where the sensor can sit; the first is where it is at first.
    public convenience init(cadence: UInt8 = 80, locations: [SensorLocation] = [.inShoe, .topOfShoe, .hip]) {
        self.init(speed256: 640, cadence: cadence, locations: locations)
    }

    private init(speed256: UInt16, cadence: UInt8, locations: [SensorLocation]) {
        let distance = SharedState<UInt64>(0)
        self.distance = distance
        self.speed256 = speed256
        self.cadence = cadence
        sensor = SpeedSensorServer(locations: locations, in: RunningSpeedAndCadenceService.uuid) { request in
            guard case .setCumulativeValue(let value) = request else { return .opCodeNotSupported }
            distance.withLock { $0 = UInt64(value) * 256 }
            return .success
        }
    }

    /// Running Speed and Cadence.
    public var service: CBUUID { RunningSpeedAndCadenceService.uuid }
    /// The measurement, the feature, the location and the control point.
    public var values: [any ServedAttribute] { [measurement, feature, sensor.location, sensor.controlPoint] }

    /// Runs while a central subscribes.
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
