public import AsyncBluetooth
public import CoreBluetooth

/// A service of a sensor of speed and cadence, a cyclist's or a runner's: both have the same kinds of characteristics.
///
/// Sources: Cycling Speed and Cadence Service 1.0, 3; Running Speed and Cadence Service 1.0, 3.
public protocol SpeedSensorService {
    /// The measurement.
    associatedtype Measurement: GATTValue
    /// The features of a sensor.
    associatedtype Feature: GATTValue

    /// The measurement, notified about each second.
    static var measurement: GATTCharacteristic<Measurement> { get }
    /// The sensor's features.
    static var feature: GATTCharacteristic<Feature> { get }
    /// The sensor's location (2A5D).
    static var sensorLocation: GATTCharacteristic<SensorLocation> { get }
    /// Requests to the sensor, answered by indications (2A55).
    static var controlPoint: GATTCharacteristic<SCControlPointRequest> { get }
}

/// A sensor on a bicycle.
public typealias CyclingSpeedAndCadenceClient = SpeedSensorClient<CyclingSpeedAndCadenceService>

/// A runner's sensor.
public typealias RunningSpeedAndCadenceClient = SpeedSensorClient<RunningSpeedAndCadenceService>

/// A sensor of speed and cadence.
public struct SpeedSensorClient<Service: SpeedSensorService>: Sendable {
    /// The device.
    public let peripheral: Peripheral

    /// The sensor of a device; sends no request.
    public init(_ peripheral: Peripheral) { self.peripheral = peripheral }

    /// The measurements, about one each second.
    public var measurements: AsyncThrowingMapSequence<ValueSequence<Data>, Service.Measurement> {
        peripheral.values(of: Service.measurement)
    }

    /// Reads what the sensor can do.
    public func feature() async throws -> Service.Feature { try await peripheral.read(Service.feature) }

    /// Reads the sensor's location; nil if the sensor lacks the characteristic.
    public func sensorLocation() async throws -> SensorLocation? {
        try await peripheral.readIfPresent(Service.sensorLocation)
    }

    /// Writes a control point request, and waits for the indication that answers it.
    public func writeControlPoint(_ request: SCControlPointRequest) async throws -> SCControlPointResponse {
        let path = Service.controlPoint.id
        let code = request.code
        let answer = try await peripheral.exchange(request.encoded, writingTo: path, notifiedBy: path) { data in
            data.count >= 2 && data.dropFirst().first == code
        }
        return try peripheral.decoded(answer, .exchange, path)
    }
}

/// The location and the control point that cycling and running sensors share.
final class SpeedSensorServer: Sendable {
    let location: ServedValue<SensorLocation>
    let controlPoint: ServedValue<Data>

    /// A sensor.
    ///
    /// - Parameters:
    ///   - locations: The possible locations; the first one is the initial one.
    ///   - service: The service.
    ///   - perform: Sets the cumulative value, or calibrates.
    init(
        locations: [SensorLocation], in service: CBUUID,
        perform: @escaping @Sendable (SCControlPointRequest) -> SCControlPointResponse.Result
    ) {
        let location = ServedValue(
            GATTCharacteristic<SensorLocation>(CBUUID(string: "2A5D"), in: service, .read), locations.first ?? .other)
        self.location = location
        // Raw bytes: an unknown request is answered, not refused.
        controlPoint = ServedValue(
            GATTCharacteristic<Data>(CBUUID(string: "2A55"), in: service, [.write, .indicate]),
            answer: { data in
                guard let code = data.first else { throw CBATTError(.invalidAttributeValueLength) }
                return Self.respond(code, data, location, locations, perform)
            })
    }

    private static func respond(
        _ code: UInt8, _ data: Data, _ location: ServedValue<SensorLocation>, _ locations: [SensorLocation],
        _ perform: (SCControlPointRequest) -> SCControlPointResponse.Result
    ) -> SCControlPointResponse {
        let request: SCControlPointRequest
        do {
            request = try SCControlPointRequest(decoding: data)
        } catch {
            let isKnown = (1...4).contains(code)
            return SCControlPointResponse(
                requestCode: code, result: isKnown ? .invalidParameter : .opCodeNotSupported)
        }
        switch request {
        case .updateSensorLocation(let wanted):
            guard locations.contains(wanted) else {
                return SCControlPointResponse(requestCode: code, result: .invalidParameter)
            }
            location.value = wanted
            return SCControlPointResponse(requestCode: code, result: .success)
        case .requestSupportedSensorLocations:
            return SCControlPointResponse(requestCode: code, result: .success, supportedLocations: locations)
        case .setCumulativeValue, .startSensorCalibration:
            return SCControlPointResponse(requestCode: code, result: perform(request))
        }
    }
}

/// Sensor Location (2A5D): the location of a cycling or running sensor.
///
/// Source: GATT Specification Supplement, Sensor Location.
public enum SensorLocation: UInt8, GATTValue, CaseIterable, CustomStringConvertible {
    /// None of the others.
    case other = 0
    /// On top of a shoe.
    case topOfShoe
    /// In a shoe.
    case inShoe
    /// At the hip.
    case hip
    /// At the front wheel.
    case frontWheel
    /// At the left crank.
    case leftCrank
    /// At the right crank.
    case rightCrank
    /// At the left pedal.
    case leftPedal
    /// At the right pedal.
    case rightPedal
    /// At the front hub.
    case frontHub
    /// At the rear dropout.
    case rearDropout
    /// At the chainstay.
    case chainstay
    /// At the rear wheel.
    case rearWheel
    /// At the rear hub.
    case rearHub
    /// On the chest.
    case chest
    /// At the spider.
    case spider
    /// At the chain ring.
    case chainRing

    private static let names = [
        "other", "top of shoe", "in shoe", "hip", "front wheel", "left crank", "right crank", "left pedal",
        "right pedal", "front hub", "rear dropout", "chainstay", "rear wheel", "rear hub", "chest", "spider",
        "chain ring",
    ]

    /// In words.
    public var description: String { Self.names[Int(rawValue)] }
}

/// SC Control Point (2A55), as it is written: a request to a sensor of speed and cadence.
///
/// Sources: Cycling Speed and Cadence Service 1.0, 3.4; Running Speed and Cadence Service 1.0, 3.4.
public enum SCControlPointRequest: GATTValue {
    /// Sets the count of the wheel's revolutions, or the runner's distance in units of 0.1 m.
    case setCumulativeValue(UInt32)
    /// Calibrates a runner's sensor.
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
        /// Done.
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

    /// A response.
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
