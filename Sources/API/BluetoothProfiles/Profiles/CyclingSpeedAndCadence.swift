public import CoreBluetooth

/// The service Cycling Speed and Cadence (1816): its characteristics.
///
/// Source: Cycling Speed and Cadence Service 1.0.
public enum CyclingSpeedAndCadenceService: SpeedSensorService {
    /// The service's UUID.
    public static let uuid = CBUUID(string: "1816")
    /// The revolutions (2A5B).
    public static let measurement = GATTCharacteristic<CSCMeasurement>("2A5B", in: "1816", .notify)
    /// The sensor's features (2A5C).
    public static let feature = GATTCharacteristic<CSCFeature>("2A5C", in: "1816", .read)
    /// The sensor's location (2A5D).
    public static let sensorLocation = GATTCharacteristic<SensorLocation>("2A5D", in: "1816", .read)
    /// Requests to the sensor, answered by indications (2A55).
    public static let controlPoint = GATTCharacteristic<SCControlPointRequest>(
        CBUUID(string: "2A55"), in: uuid, [.write, .indicate])
}

/// A simulated cycling sensor.
///
/// While a central subscribes, it notifies each second the counts of a wheel and a crank that turn at constant rates.
public final class CyclingSpeedAndCadenceServer: ProfileServer {
    private struct State {
        var wheel: RevolutionCounter
        var crank: RevolutionCounter
        var context: ServerContext?

        mutating func turn(until now: Duration) -> CSCMeasurement {
            wheel.turn(until: now)
            crank.turn(until: now)
            return CSCMeasurement(wheel: wheel.data(), crank: crank.data())
        }
    }

    /// The notified measurement.
    public let measurement = ServedValue(CyclingSpeedAndCadenceService.measurement)
    /// The sensor's features.
    public let feature = ServedValue(
        CyclingSpeedAndCadenceService.feature, [.wheelRevolutions, .crankRevolutions, .multipleSensorLocations])
    private let sensor: SpeedSensorServer
    private let state: SharedState<State>

    /// Creates a sensor on a bicycle.
    ///
    /// - Parameters:
    ///   - cadence: Revolutions of the crank per minute, 0...65,535.
    ///   - wheelRate: Revolutions of the wheel per minute, 0...65,535.
    ///   - locations: The possible locations of the sensor; the first one is the initial one.
    /// - Throws: ``GATTValueError`` for a rate out of its range.
    public convenience init(
        cadence: Double, wheelRate: Double, locations: [SensorLocation] = [.rearWheel, .frontWheel]
    ) throws(GATTValueError) {
        let allowed = 0...Double(UInt16.max)
        guard allowed.contains(cadence) else { throw CSCMeasurement.outOfRange(cadence, "Cadence", allowed) }
        guard allowed.contains(wheelRate) else { throw CSCMeasurement.outOfRange(wheelRate, "Wheel Rate", allowed) }
        self.init(checkedCadence: cadence, wheelRate: wheelRate, locations: locations)
    }

    /// Creates a sensor on a bicycle whose crank turns 60 times a minute, and whose wheels turn 180 times.
    ///
    /// - Parameter locations: The possible locations of the sensor; the first one is the initial one.
    public convenience init(locations: [SensorLocation] = [.rearWheel, .frontWheel]) {
        self.init(checkedCadence: 60, wheelRate: 180, locations: locations)
    }

    private init(checkedCadence cadence: Double, wheelRate: Double, locations: [SensorLocation]) {
        let state = SharedState(
            State(wheel: RevolutionCounter(rate: wheelRate), crank: RevolutionCounter(rate: cadence)))
        self.state = state
        sensor = SpeedSensorServer(locations: locations, in: CyclingSpeedAndCadenceService.uuid) { value in
            let now = state.withLock { $0.context }?.now ?? .zero
            state.withLock { state in
                state.wheel.turn(until: now)
                state.wheel.count = UInt64(value)
            }
        }
    }

    /// The UUID of the service Cycling Speed and Cadence.
    public var service: CBUUID { CyclingSpeedAndCadenceService.uuid }
    /// The measurement, the feature, the location and the control point.
    public var values: [any ServedAttribute] { [measurement, feature, sensor.location, sensor.controlPoint] }

    /// Notifies measurements while a central subscribes.
    public func start(_ context: ServerContext) {
        state.withLock { $0.context = context }
        context.repeat(every: { .seconds(1) }, whileSubscribedTo: measurement) { [self] in
            let now = context.now
            measurement.send(state.withLock { $0.turn(until: now) })
        }
    }
}
