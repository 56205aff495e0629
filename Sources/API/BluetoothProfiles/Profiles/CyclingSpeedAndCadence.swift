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
        /// The wheel count that a client has set, for the next measurement.
        var wanted: UInt32?
        /// The count that was set, and the revolutions of the wheel at that time.
        var wheelBase: UInt32 = 0
        var wheelStart = 0.0
    }

    /// The notified measurement.
    public let measurement = ServedValue(CyclingSpeedAndCadenceService.measurement)
    /// The sensor's features.
    public let feature = ServedValue(
        CyclingSpeedAndCadenceService.feature, [.wheelRevolutions, .crankRevolutions, .multipleSensorLocations])
    private let sensor: SpeedSensorServer
    private let cadence: Double
    private let wheelRate: Double
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
        let state = SharedState(State())
        self.state = state
        self.cadence = cadence
        self.wheelRate = wheelRate
        sensor = SpeedSensorServer(locations: locations, in: CyclingSpeedAndCadenceService.uuid) { request in
            guard case .setCumulativeValue(let value) = request else { return .opCodeNotSupported }
            state.withLock { $0.wanted = value }
            return .success
        }
    }

    /// The UUID of the service Cycling Speed and Cadence.
    public var service: CBUUID { CyclingSpeedAndCadenceService.uuid }
    /// The measurement, the feature, the location and the control point.
    public var values: [any ServedAttribute] { [measurement, feature, sensor.location, sensor.controlPoint] }

    /// Notifies measurements while a central subscribes.
    public func start(_ context: ServerContext) {
        context.repeat(every: { .seconds(1) }, whileSubscribedTo: measurement) { [self] in
            measurement.send(measure(at: context.now / .seconds(1)))
        }
    }

    private func measure(at seconds: Double) -> CSCMeasurement {
        let (turns, event) = Self.turns(wheelRate, at: seconds)
        let (crank, crankEvent) = Self.turns(cadence, at: seconds)
        let wheel = state.withLock { state -> UInt32 in
            if let value = state.wanted {
                (state.wanted, state.wheelBase, state.wheelStart) = (nil, value, turns)
            }
            return state.wheelBase &+ UInt32(truncatingIfNeeded: Int(turns - state.wheelStart))
        }
        return CSCMeasurement(
            wheel: RevolutionData(count: wheel, lastEventTime: event),
            crank: RevolutionData(count: UInt16(truncatingIfNeeded: Int(crank)), lastEventTime: crankEvent))
    }

    /// Returns the whole revolutions, and the time of the last one in 1/1024 s.
    private static func turns(_ perMinute: Double, at seconds: Double) -> (Double, UInt16) {
        // Rates are per minute: a whole revolution must not be missed by rounding.
        let turns = (seconds * perMinute / 60 + 1e-9).rounded(.down)
        let event = perMinute > 0 ? turns * 60 / perMinute : 0
        return (turns, UInt16(truncatingIfNeeded: Int((event * 1024).rounded())))
    }
}
