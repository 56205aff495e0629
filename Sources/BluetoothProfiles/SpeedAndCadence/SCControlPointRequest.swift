/// SC Control Point (2A55), as it is written: an order to a sensor of speed and cadence.
///
/// Sources: Cycling Speed and Cadence Service 1.0, 3.4; Running Speed and Cadence Service 1.0, 3.4.
public enum SCControlPointRequest: GATTValue {
    /// Sets the count of the wheel's revolutions, or the runner's distance in units of 0.1 m.
    case setCumulativeValue(UInt32)
    /// Calibrates a runner's sensor.
    case startSensorCalibration
    /// Tells where the sensor sits now.
    case updateSensorLocation(SensorLocation)
    /// Asks where the sensor can sit.
    case requestSupportedSensorLocations

    /// What a response names the request by.
    public var code: UInt8 {
        switch self {
        case .setCumulativeValue: 1
        case .startSensorCalibration: 2
        case .updateSensorLocation: 3
        case .requestSupportedSensorLocations: 4
        }
    }

    /// Reads the code and its parameter.
    ///
    /// - Throws: Also that the code or the location is reserved.
    public init(from reader: inout GATTReader) throws(GATTValueError) {
        let code = try reader.uint8("Op Code")
        switch code {
        case 1: self = .setCumulativeValue(try reader.uint32("Cumulative Value"))
        case 2: self = .startSensorCalibration
        case 3: self = .updateSensorLocation(try SensorLocation(from: &reader))
        case 4: self = .requestSupportedSensorLocations
        default: throw reader.reserved(code, "Op Code")
        }
    }

    /// Writes the code and its parameter.
    public func write(to writer: inout GATTWriter) {
        writer.append(code)
        switch self {
        case .setCumulativeValue(let value): writer.append(value)
        case .updateSensorLocation(let location): writer.append(location)
        case .startSensorCalibration, .requestSupportedSensorLocations: break
        }
    }
}
