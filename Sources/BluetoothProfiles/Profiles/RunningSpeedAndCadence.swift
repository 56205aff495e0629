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

/// RSC Feature (2A54): the features of a running sensor.
///
/// Source: Running Speed and Cadence Service 1.0, 3.2.
public struct RSCFeature: OptionSet, GATTValue, CustomStringConvertible {
    /// The bits; reserved ones are preserved.
    public let rawValue: UInt16
    /// A set from its bits.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// It measures the length of a stride.
    public static let strideLength = RSCFeature(rawValue: 1)
    /// It measures the distance.
    public static let totalDistance = RSCFeature(rawValue: 2)
    /// The sensor distinguishes walking from running.
    public static let walkingOrRunning = RSCFeature(rawValue: 4)
    /// It can be calibrated.
    public static let calibration = RSCFeature(rawValue: 8)
    /// The sensor supports several locations.
    public static let multipleSensorLocations = RSCFeature(rawValue: 16)

    /// In words.
    public var description: String {
        let names: [(RSCFeature, String)] = [
            (.strideLength, "stride length"), (.totalDistance, "total distance"),
            (.walkingOrRunning, "walking or running"), (.calibration, "calibration"),
            (.multipleSensorLocations, "multiple sensor locations"),
        ]
        let present = names.filter { contains($0.0) }.map(\.1)
        return present.isEmpty ? "no features" : present.joined(separator: ", ")
    }
}

/// RSC Measurement (2A53): the speed of a runner.
///
/// Source: Running Speed and Cadence Service 1.0, 3.1; GATT Specification Supplement, RSC Measurement.
public struct RSCMeasurement: GATTValue, CustomStringConvertible {
    /// The speed in units of 1/256 m/s.
    public var speed256: UInt16
    /// Steps per minute of one foot.
    public var cadence: UInt8
    /// The length of a stride in centimetres.
    public var strideLength: UInt16?
    /// The distance since the sensor began to count, in units of 0.1 m.
    public var totalDistance: UInt32?
    /// Whether the runner runs; false for walking.
    public var isRunning: Bool

    /// A measurement.
    public init(
        speed256: UInt16, cadence: UInt8, strideLength: UInt16? = nil, totalDistance: UInt32? = nil,
        isRunning: Bool = false
    ) {
        self.speed256 = speed256
        self.cadence = cadence
        self.strideLength = strideLength
        self.totalDistance = totalDistance
        self.isRunning = isRunning
    }

    /// The speed in metres per second, 0 up to 256.
    public var speed: Double { Double(speed256) / 256 }

    /// True: a client ignores unknown flags and the fields after them.
    public static var ignoresTrailingBytes: Bool { true }

    /// Reads the flags, speed, cadence and what the flags announce.
    public init(from reader: inout GATTReader) throws(GATTValueError) {
        let flags = try reader.uint8("Flags")
        speed256 = try reader.uint16("Instantaneous Speed")
        cadence = try reader.uint8("Instantaneous Cadence")
        strideLength = flags & 0x01 == 0 ? nil : try reader.uint16("Instantaneous Stride Length")
        totalDistance = flags & 0x02 == 0 ? nil : try reader.uint32("Total Distance")
        isRunning = flags & 0x04 != 0
    }

    /// Writes the flags and the present fields.
    public func write(to writer: inout GATTWriter) {
        let present = (strideLength == nil ? 0 : 1) | (totalDistance == nil ? 0 : 2)
        writer.append(UInt8(present | (isRunning ? 4 : 0)))
        writer.append(speed256)
        writer.append(cadence, bytes: 1)
        if let strideLength { writer.append(strideLength, bytes: 2) }
        if let totalDistance { writer.append(totalDistance, bytes: 4) }
    }

    /// `2.50 m/s, 80 steps/min, stride 0.90 m, 10.0 m, running`.
    public var description: String {
        var parts = [Decimals.fixed(speed, 2) + " m/s", "\(cadence) steps/min"]
        if let strideLength { parts.append("stride \(Decimals.fixed(Double(strideLength) / 100, 2)) m") }
        if let totalDistance { parts.append("\(Decimals.fixed(Double(totalDistance) / 10, 1)) m") }
        parts.append(isRunning ? "running" : "walking")
        return parts.joined(separator: ", ")
    }
}

/// A simulated running sensor.
///
/// While a central subscribes, it notifies each second an even speed and cadence, and the distance since the start.
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
    /// In units of 1/256 of 0.1 m, so that no part is lost.
    private let distance: SharedState<UInt64>

    /// A runner.
    ///
    /// - Parameters:
    ///   - speed: Metres per second, 0...255; above 2 it runs.
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

    /// A runner at 2.5 m/s.
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
