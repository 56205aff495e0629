public import CoreBluetooth

/// A bicycle's sensor that this program plays.
///
/// While a central subscribes, it notifies each second the counts of a wheel and of a crank that turn evenly.
public final class CyclingSpeedAndCadenceServer: ProfileServer {
    private struct State {
        /// What a client sets the wheel's count to with the next measurement.
        var wanted: UInt32?
        /// What the wheel's count was set to, and its revolutions at that time.
        var wheelBase: UInt32 = 0
        var wheelStart = 0.0
    }

    /// What is notified.
    public let measurement = ServedValue(CyclingSpeedAndCadenceService.measurement)
    /// What the sensor can do.
    public let feature = ServedValue(
        CyclingSpeedAndCadenceService.feature, [.wheelRevolutions, .crankRevolutions, .multipleSensorLocations])
    private let sensor: SpeedSensorServer
    private let cadence: Double
    private let wheelRate: Double
    private let state: SharedState<State>

    /// A bicycle.
    ///
    /// - Parameters:
    ///   - cadence: Revolutions of the crank per minute, 0...65,535.
    ///   - wheelRate: Revolutions of the wheel per minute, 0...65,535.
    ///   - locations: Where the sensor can sit; the first is where it is at first.
    /// - Throws: That a rate is out of its range.
    public convenience init(
        cadence: Double, wheelRate: Double, locations: [SensorLocation] = [.rearWheel, .frontWheel]
    ) throws(GATTValueError) {
        let allowed = 0...Double(UInt16.max)
        guard allowed.contains(cadence) else { throw CSCMeasurement.outOfRange(cadence, "Cadence", allowed) }
        guard allowed.contains(wheelRate) else { throw CSCMeasurement.outOfRange(wheelRate, "Wheel Rate", allowed) }
        self.init(checkedCadence: cadence, wheelRate: wheelRate, locations: locations)
    }

    /// A bicycle whose crank turns 60 times a minute, and whose wheels turn 180 times.
    ///
    /// - Parameter locations: Where the sensor can sit; the first is where it is at first.
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

    /// Cycling Speed and Cadence.
    public var service: CBUUID { CyclingSpeedAndCadenceService.uuid }
    /// The measurement, the feature, the location and the control point.
    public var values: [any ServedAttribute] { [measurement, feature, sensor.location, sensor.controlPoint] }

    /// Turns while a central subscribes.
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

    /// Whole revolutions, and when the last was complete, in 1/1024 s.
    private static func turns(_ perMinute: Double, at seconds: Double) -> (Double, UInt16) {
        // Rates are per minute: a whole revolution must not be missed by rounding.
        let turns = (seconds * perMinute / 60 + 1e-9).rounded(.down)
        let event = perMinute > 0 ? turns * 60 / perMinute : 0
        return (turns, UInt16(truncatingIfNeeded: Int((event * 1024).rounded())))
    }
}
