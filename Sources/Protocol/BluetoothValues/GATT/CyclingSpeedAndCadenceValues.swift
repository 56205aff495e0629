/// CSC Feature (2A5C): the features of a cycling sensor.
///
/// Source: Cycling Speed and Cadence Service 1.0, 3.2.
public struct CSCFeature: OptionSet, GATTValue, CustomStringConvertible {
    /// The bits; reserved ones are preserved.
    public let rawValue: UInt16
    /// Creates a set from its bits.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The sensor counts the revolutions of a wheel.
    public static let wheelRevolutions = CSCFeature(rawValue: 1)
    /// The sensor counts the revolutions of a crank.
    public static let crankRevolutions = CSCFeature(rawValue: 2)
    /// The sensor supports several locations.
    public static let multipleSensorLocations = CSCFeature(rawValue: 4)

    /// The value in words.
    public var description: String {
        let names: [(CSCFeature, String)] = [
            (.wheelRevolutions, "wheel revolutions"), (.crankRevolutions, "crank revolutions"),
            (.multipleSensorLocations, "multiple sensor locations"),
        ]
        let present = names.filter { contains($0.0) }.map(\.1)
        return present.isEmpty ? "no features" : present.joined(separator: ", ")
    }
}

/// CSC Measurement (2A5B): the revolutions of a wheel and of a crank.
///
/// Two measurements give speed and cadence: see ``RevolutionData/rate(since:ticksPerSecond:)``.
/// Source: Cycling Speed and Cadence Service 1.0, 3.1; GATT Specification Supplement, CSC Measurement.
public struct CSCMeasurement: GATTValue, CustomStringConvertible {
    /// The wheel's revolutions; nil if the sensor does not count them.
    public var wheel: RevolutionData<UInt32>?
    /// The crank's revolutions; nil if the sensor does not count them.
    public var crank: RevolutionData<UInt16>?

    /// Creates a measurement.
    public init(wheel: RevolutionData<UInt32>? = nil, crank: RevolutionData<UInt16>? = nil) {
        self.wheel = wheel
        self.crank = crank
    }

    /// Returns the speed since an earlier measurement, in meters per second.
    ///
    /// `circumference`: The circumference of the wheel, in meters: 2.1 is usual.
    /// - Returns: nil if the wheel completed no revolution, or is not counted.
    public func speed(since earlier: CSCMeasurement, circumference: Double) -> Double? {
        guard let wheel, let before = earlier.wheel else { return nil }
        return wheel.rate(since: before).map { $0 * circumference }
    }

    /// Returns the cadence since an earlier measurement, in revolutions of the crank per minute.
    ///
    /// - Returns: nil if the crank completed no revolution, or is not counted.
    public func cadence(since earlier: CSCMeasurement) -> Double? {
        guard let crank, let before = earlier.crank else { return nil }
        return crank.rate(since: before).map { $0 * 60 }
    }

    /// True, because a client ignores unknown flags and the fields after them.
    public static var ignoresTrailingBytes: Bool { true }

    /// Reads the flags and the fields that they announce.
    public init(from reader: inout GATTReader) throws(GATTValueError) {
        let flags = try reader.uint8("Flags")
        wheel = flags & 0x01 == 0 ? nil : try RevolutionData(from: &reader, "Wheel")
        crank = flags & 0x02 == 0 ? nil : try RevolutionData(from: &reader, "Crank")
    }

    /// Writes the flags and the present fields.
    public func write(to writer: inout GATTWriter) {
        writer.append(UInt8((wheel == nil ? 0 : 1) | (crank == nil ? 0 : 2)))
        wheel?.write(to: &writer)
        crank?.write(to: &writer)
    }

    /// `wheel 10 turns at 1.000 s, crank 5 turns at 0.500 s`.
    public var description: String {
        let parts = [wheel.map { "wheel \($0.text())" }, crank.map { "crank \($0.text())" }].compactMap { $0 }
        return parts.isEmpty ? "no data" : parts.joined(separator: ", ")
    }
}

/// A count of revolutions, and the time of the last one.
///
/// The count of a wheel has 32 bits, that of a crank 16; both wrap around.
public struct RevolutionData<Count: FixedWidthInteger & UnsignedInteger & Sendable>: Hashable, Sendable {
    /// Revolutions since the sensor began to count.
    public var count: Count
    /// The time at which the last revolution was complete, in units of 1/1024 s; 1/2048 s for the wheel of a power
    /// meter.
    ///
    /// It wraps around after 65,535.
    public var lastEventTime: UInt16

    /// Creates a count.
    public init(count: Count, lastEventTime: UInt16) {
        self.count = count
        self.lastEventTime = lastEventTime
    }

    init(from reader: inout GATTReader, _ name: String) throws(GATTValueError) {
        count = try reader.integer("Cumulative \(name) Revolutions")
        lastEventTime = try reader.uint16("Last \(name) Event Time")
    }

    func write(to writer: inout GATTWriter) {
        writer.append(count, bytes: Count.bitWidth / 8)
        writer.append(lastEventTime)
    }

    /// Returns the revolutions per second since an earlier measurement, with at most one overflow between them.
    ///
    /// `ticks`: The units of the event time per second: 1024 or 2048.
    /// - Returns: nil if no revolution was completed since.
    public func rate(since earlier: Self, ticksPerSecond ticks: Int = 1024) -> Double? {
        let time = lastEventTime &- earlier.lastEventTime
        guard time > 0 else { return nil }
        return Double(count &- earlier.count) * Double(ticks) / Double(time)
    }

    /// `10 turns at 1.000 s`.
    func text(ticksPerSecond ticks: Int = 1024) -> String {
        "\(count) turns at \(Decimals.fixed(Double(lastEventTime) / Double(ticks), 3)) s"
    }
}
