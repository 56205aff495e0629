/// Sensor Location (2A5D): the location of a cycling or running sensor.
///
/// Source: GATT Specification Supplement, Sensor Location.
public enum SensorLocation: UInt8, GATTValue, CaseIterable, CustomStringConvertible {
    /// A location other than those below.
    case other = 0
    /// The top of a shoe.
    case topOfShoe
    /// The inside of a shoe.
    case inShoe
    /// The hip.
    case hip
    /// The front wheel.
    case frontWheel
    /// The left crank.
    case leftCrank
    /// The right crank.
    case rightCrank
    /// The left pedal.
    case leftPedal
    /// The right pedal.
    case rightPedal
    /// The front hub.
    case frontHub
    /// The rear dropout.
    case rearDropout
    /// The chainstay.
    case chainstay
    /// The rear wheel.
    case rearWheel
    /// The rear hub.
    case rearHub
    /// The chest.
    case chest
    /// The spider.
    case spider
    /// The chain ring.
    case chainRing

    private static let names = [
        "other", "top of shoe", "in shoe", "hip", "front wheel", "left crank", "right crank", "left pedal",
        "right pedal", "front hub", "rear dropout", "chainstay", "rear wheel", "rear hub", "chest", "spider",
        "chain ring",
    ]

    /// The value in words.
    public var description: String { Self.names[Int(rawValue)] }
}

/// SC Control Point (2A55), as it is written: a request to a speed and cadence sensor.
///
/// Sources: Cycling Speed and Cadence Service 1.0, 3.4; Running Speed and Cadence Service 1.0, 3.4.
public enum SCControlPointRequest: GATTValue {
    /// Sets the count of the wheel's revolutions, or the runner's distance in units of 0.1 m.
    case setCumulativeValue(UInt32)
    /// Calibrates a running sensor.
    case startSensorCalibration
    /// Sets the location of the sensor.
    case updateSensorLocation(SensorLocation)
    /// Requests the supported locations.
    case requestSupportedSensorLocations

    /// The op code, which the response repeats.
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
    /// - Throws: ``GATTValueError``, also if the code or the location is reserved.
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

/// SC Control Point (2A55), as it is indicated: the result of a request.
///
/// Sources: Cycling Speed and Cadence Service 1.0, 3.4; Running Speed and Cadence Service 1.0, 3.4.
public struct SCControlPointResponse: GATTValue {
    /// The result of a request.
    public enum Result: UInt8, GATTValue, CaseIterable {
        /// The request succeeded.
        case success = 1
        /// The sensor does not support the request.
        case opCodeNotSupported
        /// The parameter is invalid.
        case invalidParameter
        /// The operation failed.
        case operationFailed
    }

    static let code: UInt8 = 0x10

    /// The code of the request.
    public var requestCode: UInt8
    /// The result.
    public var result: Result
    /// The supported locations, if they were requested.
    public var supportedLocations: [SensorLocation]

    /// Creates a response.
    public init(requestCode: UInt8, result: Result, supportedLocations: [SensorLocation] = []) {
        self.requestCode = requestCode
        self.result = result
        self.supportedLocations = supportedLocations
    }

    /// Reads the codes, the result and the locations.
    public init(from reader: inout GATTReader) throws(GATTValueError) {
        try reader.constant(Self.code, "Op Code")
        requestCode = try reader.uint8("Request Op Code")
        result = try reader.value("Response Value")
        supportedLocations = []
        while reader.count > 0 { supportedLocations.append(try SensorLocation(from: &reader)) }
    }

    /// Writes the codes, the result and the locations.
    public func write(to writer: inout GATTWriter) {
        writer.append(Self.code)
        writer.append(requestCode, bytes: 1)
        writer.append(result)
        for location in supportedLocations { writer.append(location) }
    }
}
