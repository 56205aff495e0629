public import AsyncBluetooth
public import CoreBluetooth

/// A service of a speed and cadence sensor: cycling and running sensors have the same kinds of characteristics.
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

/// A client of a cycling sensor.
public typealias CyclingSpeedAndCadenceClient = SpeedSensorClient<CyclingSpeedAndCadenceService>

/// A client of a running sensor.
public typealias RunningSpeedAndCadenceClient = SpeedSensorClient<RunningSpeedAndCadenceService>

/// A client of a speed and cadence sensor.
public struct SpeedSensorClient<Service: SpeedSensorService>: Sendable {
    /// The device.
    public let peripheral: Peripheral

    /// Creates a client of a device; sends no request.
    public init(_ peripheral: Peripheral) { self.peripheral = peripheral }

    /// The measurements, about one each second.
    public var measurements: AsyncThrowingMapSequence<ValueSequence<Data>, Service.Measurement> {
        peripheral.values(of: Service.measurement)
    }

    /// Reads the sensor's features.
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

    /// Creates a sensor.
    ///
    /// - Parameters:
    ///   - locations: The possible locations; the first one is the initial one.
    ///   - service: The service.
    ///   - setValue: Sets the cumulative value.
    init(locations: [SensorLocation], in service: CBUUID, setValue: @escaping @Sendable (UInt32) -> Void) {
        let location = ServedValue(
            GATTCharacteristic<SensorLocation>(CBUUID(string: "2A5D"), in: service, .read), locations.first ?? .other)
        self.location = location
        // Raw bytes, so that an unknown request is answered rather than refused.
        controlPoint = ServedValue(
            GATTCharacteristic<Data>(CBUUID(string: "2A55"), in: service, [.write, .indicate]),
            answer: { data in
                guard !data.isEmpty else { throw CBATTError(.invalidAttributeValueLength) }
                return SCControlPointResponse(
                    to: data, locations: locations, setValue: setValue, setLocation: { location.value = $0 })
            })
    }
}
