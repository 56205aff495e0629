/// RSC Feature (2A54): the features of a running sensor.
///
/// Source: Running Speed and Cadence Service 1.0, 3.2.
public struct RSCFeature: OptionSet, GATTValue, CustomStringConvertible {
    /// The bits; reserved ones are preserved.
    public let rawValue: UInt16
    /// Creates a set from its bits.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The sensor measures the length of a stride.
    public static let strideLength = RSCFeature(rawValue: 1)
    /// The sensor measures the distance.
    public static let totalDistance = RSCFeature(rawValue: 2)
    /// The sensor distinguishes walking from running.
    public static let walkingOrRunning = RSCFeature(rawValue: 4)
    /// The sensor can be calibrated.
    public static let calibration = RSCFeature(rawValue: 8)
    /// The sensor supports several locations.
    public static let multipleSensorLocations = RSCFeature(rawValue: 16)

    /// The value in words.
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
    /// The length of a stride in centimeters.
    public var strideLength: UInt16?
    /// The distance since the sensor began to count, in units of 0.1 m.
    public var totalDistance: UInt32?
    /// Whether the runner runs; false for walking.
    public var isRunning: Bool

    /// Creates a measurement.
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

    /// The speed in meters per second, from 0 to less than 256.
    public var speed: Double { Double(speed256) / 256 }

    /// True, because a client ignores unknown flags and the fields after them.
    public static var ignoresTrailingBytes: Bool { true }

    /// Reads the flags, the speed, the cadence and the fields that the flags announce.
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
