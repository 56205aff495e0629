/// Environmental Sensing Measurement (290C): how the value of a characteristic comes about.
///
/// Source: Environmental Sensing Service 1.0, 3.1.2.1; GATT Specification Supplement.
public struct ESMeasurement: GATTValue, CustomStringConvertible {
    /// What is done with the samples.
    public enum SamplingFunction: UInt8, GATTValue, CaseIterable, CustomStringConvertible {
        /// Not specified.
        case unspecified = 0
        /// The value of the moment.
        case instantaneous
        /// The mean of the samples.
        case mean
        /// The root mean square of the samples.
        case rootMeanSquare
        /// The greatest sample.
        case maximum
        /// The least sample.
        case minimum
        /// The sum of the samples.
        case accumulated
        /// How many samples there were.
        case count

        private static let names = [
            "unspecified", "instantaneous", "mean", "root mean square", "maximum", "minimum", "accumulated", "count",
        ]

        /// In words.
        public var description: String { Self.names[Int(rawValue)] }
    }

    /// What is done with the samples.
    public var function: SamplingFunction
    /// The time over which samples are taken, in seconds, 1...0xFFFFFF; nil where it is not used.
    public let period: UInt32?
    /// The time between updates, in seconds, 1...0xFFFFFF; nil where it is not used.
    public let updateInterval: UInt32?
    /// The number of what is measured (air, water, …), of Assigned Numbers; 0 is not specified.
    public var application: UInt8
    /// The measurement's uncertainty, in units of 0.5 %, 0...200; nil where it is not known.
    public let uncertainty: UInt8?

    /// A description.
    ///
    /// - Parameters:
    ///   - period: In seconds, 1...0xFFFFFF; nil where it is not used.
    ///   - updateInterval: In seconds, 1...0xFFFFFF; nil where it is not used.
    ///   - uncertainty: In units of 0.5 %, 0...200; nil where it is not known.
    ///   - application: What the values are for.
    ///   - function: How the samples become a value.
    /// - Throws: Which of them is out of its range.
    public init(
        function: SamplingFunction, period: UInt32? = nil, updateInterval: UInt32? = nil, application: UInt8 = 0,
        uncertainty: UInt8? = nil
    ) throws(GATTValueError) {
        self.function = function
        self.period = try Self.seconds(period, "Measurement Period")
        self.updateInterval = try Self.seconds(updateInterval, "Internal Update Interval")
        self.application = application
        if let uncertainty {
            self.uncertainty = try Self.checked(uncertainty, "Measurement Uncertainty", in: 0...200)
        } else {
            self.uncertainty = nil
        }
    }

    private static func seconds(_ seconds: UInt32?, _ field: String) throws(GATTValueError) -> UInt32? {
        guard let seconds else { return nil }
        return try checked(seconds, field, in: 1...0xFF_FFFF)
    }

    /// Reads eleven bytes.
    ///
    /// - Throws: Also that the sampling function or the uncertainty is reserved.
    public init(from reader: inout GATTReader) throws(GATTValueError) {
        _ = try reader.uint16("Flags")
        let raw = try reader.uint8("Sampling Function")
        guard let function = SamplingFunction(rawValue: raw) else { throw reader.reserved(raw, "Sampling Function") }
        let period: UInt32 = try reader.integer("Measurement Period", bytes: 3)
        let updateInterval: UInt32 = try reader.integer("Internal Update Interval", bytes: 3)
        let application = try reader.uint8("Application")
        let uncertainty = try reader.uint8("Measurement Uncertainty")
        guard uncertainty <= 200 || uncertainty == 255 else {
            throw reader.reserved(uncertainty, "Measurement Uncertainty")
        }
        self.function = function
        self.period = period == 0 ? nil : period
        self.updateInterval = updateInterval == 0 ? nil : updateInterval
        self.application = application
        self.uncertainty = uncertainty == 255 ? nil : uncertainty
    }

    /// Writes eleven bytes.
    public func write(to writer: inout GATTWriter) {
        writer.append(UInt16(0))
        writer.append(function)
        writer.append(period ?? 0, bytes: 3)
        writer.append(updateInterval ?? 0, bytes: 3)
        writer.append(application, bytes: 1)
        writer.append(uncertainty ?? 255)
    }

    /// `mean of 60 s, updated each 300 s, uncertainty 0.5 %`.
    public var description: String {
        let parts = [
            "\(function)" + (period.map { " of \($0) s" } ?? ""), updateInterval.map { "updated each \($0) s" },
            uncertainty.map { "uncertainty \(Decimals.fixed(Double($0) / 2, 1)) %" },
        ]
        return parts.compactMap { $0 }.joined(separator: ", ")
    }
}
