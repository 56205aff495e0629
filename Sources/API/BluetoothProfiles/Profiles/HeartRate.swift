public import AsyncBluetooth
public import CoreBluetooth

/// The service Heart Rate (180D): its characteristics.
///
/// Source: Heart Rate Service 1.0.
public enum HeartRateService {
    /// The service's UUID.
    public static let uuid = CBUUID(string: "180D")
    /// The measurement (2A37).
    public static let measurement = GATTCharacteristic<HeartRateMeasurement>("2A37", in: "180D", .notify)
    /// The sensor's location (2A38).
    public static let bodySensorLocation = GATTCharacteristic<BodySensorLocation>("2A38", in: "180D", .read)
    /// Requests to the sensor (2A39).
    public static let controlPoint = GATTCharacteristic<HeartRateControlPoint>("2A39", in: "180D", .write)
}

/// A client of a heart rate sensor.
public struct HeartRateClient: Sendable {
    /// The device.
    public let peripheral: Peripheral

    /// Creates a client of a device; sends no request.
    public init(_ peripheral: Peripheral) { self.peripheral = peripheral }

    /// The measurements, about one each second.
    public var measurements: AsyncThrowingMapSequence<ValueSequence<Data>, HeartRateMeasurement> {
        peripheral.values(of: HeartRateService.measurement)
    }

    /// Reads the sensor's location; nil if the sensor lacks the characteristic.
    public func bodySensorLocation() async throws -> BodySensorLocation? {
        try await peripheral.readIfPresent(HeartRateService.bodySensorLocation)
    }

    /// Resets the energy expended to 0.
    ///
    /// - Throws: ATT error 0x80 if the sensor does not count it.
    public func resetEnergyExpended() async throws {
        try await peripheral.write(.resetEnergyExpended, to: HeartRateService.controlPoint)
    }
}

/// A simulated heart rate sensor.
///
/// While a central subscribes, it notifies a measurement each second; every tenth contains the energy expended.
public final class HeartRateServer: ProfileServer {
    /// The notified measurement.
    public let measurement = ServedValue(HeartRateService.measurement)
    /// The sensor's location.
    public let location: ServedValue<BodySensorLocation>
    private let controlPoint: ServedValue<HeartRateControlPoint>
    private let interval: Duration
    private let rate: @Sendable (Int) -> UInt16?
    private let sensor = SharedState(HeartRateSensor())

    /// Creates a sensor.
    ///
    /// - Parameters:
    ///   - location: The sensor's location.
    ///   - interval: The time between measurements.
    ///   - rate: Returns the beats per minute of the n-th measurement, from 0; nil measures nothing, for an app that
    ///     sends ``measurement`` itself. By default it alternates between 60 and 90.
    public init(
        location: BodySensorLocation = .chest, interval: Duration = .seconds(1),
        rate: @escaping @Sendable (Int) -> UInt16? = { HeartRateServer.restingRate($0) }
    ) {
        self.interval = interval
        self.rate = rate
        self.location = ServedValue(HeartRateService.bodySensorLocation, location)
        let sensor = sensor
        // 0x80 is "Control Point Not Supported" (Heart Rate Service 1.0, 1.6).
        controlPoint = ServedValue(
            HeartRateService.controlPoint, reservedValueError: 0x80, accept: { _ in sensor.withLock { $0.energy = 0 } })
    }

    /// Returns a rate that goes from 60 up to 90 and back in a minute.
    public static func restingRate(_ measurement: Int) -> UInt16 { HeartRateSensor.restingRate(measurement) }

    /// The UUID of the service Heart Rate.
    public var service: CBUUID { HeartRateService.uuid }
    /// The measurement, the location and the control point.
    public var values: [any ServedAttribute] { [measurement, location, controlPoint] }

    /// Sends measurements while a central subscribes.
    public func start(_ context: ServerContext) {
        let interval = interval
        context.repeat(every: { interval }, whileSubscribedTo: measurement) { [self] in
            let rate = rate(sensor.withLock { $0.measurements })
            let value = sensor.withLock { $0.measure(rate: rate, hasContact: true, after: interval / .seconds(1)) }
            if let value { measurement.send(value) }
        }
    }
}
