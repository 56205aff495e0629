/// Environmental Sensing Measurement (290C): the method by which the value of a characteristic is measured.
///
/// Source: Environmental Sensing Service 1.0, 3.1.2.1; GATT Specification Supplement.
public struct ESMeasurement: GATTValue, CustomStringConvertible {
    /// The function that is applied to the samples.
    public enum SamplingFunction: UInt8, GATTValue, CaseIterable, CustomStringConvertible {
        /// The function is not specified.
        case unspecified = 0
        /// The current value.
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
        /// The number of samples.
        case count

        private static let names = [
            "unspecified", "instantaneous", "mean", "root mean square", "maximum", "minimum", "accumulated", "count",
        ]

        /// The value in words.
        public var description: String { Self.names[Int(rawValue)] }
    }

    /// The function that is applied to the samples.
    public var function: SamplingFunction
    /// The time over which samples are taken, in seconds, 1...0xFFFFFF; nil if unused.
    public let period: UInt32?
    /// The time between updates, in seconds, 1...0xFFFFFF; nil if unused.
    public let updateInterval: UInt32?
    /// The number of the measured medium (air, water, …) in Assigned Numbers; 0 means not specified.
    public var application: UInt8
    /// The measurement's uncertainty, in units of 0.5 %, 0...200; nil if unknown.
    public let uncertainty: UInt8?

    /// Creates a description.
    ///
    /// - Parameters:
    ///   - period: The seconds over which samples are taken, 1...0xFFFFFF; nil if unused.
    ///   - updateInterval: The seconds between updates, 1...0xFFFFFF; nil if unused.
    ///   - uncertainty: The uncertainty in units of 0.5 %, 0...200; nil if unknown.
    ///   - application: The number of the measured medium.
    ///   - function: The function that combines the samples into a value.
    /// - Throws: ``GATTValueError`` for an argument that is out of range.
    public init(
        function: SamplingFunction, period: UInt32? = nil, updateInterval: UInt32? = nil, application: UInt8 = 0,
        uncertainty: UInt8? = nil
    ) throws(GATTValueError) {
        self.function = function
        self.period = try Self.checked(period, "Measurement Period", in: 1...0xFF_FFFF)
        self.updateInterval = try Self.checked(updateInterval, "Internal Update Interval", in: 1...0xFF_FFFF)
        self.application = application
        self.uncertainty = try Self.checked(uncertainty, "Measurement Uncertainty", in: 0...200)
    }

    /// Reads eleven bytes.
    ///
    /// - Throws: ``GATTValueError``, also if the sampling function or the uncertainty is reserved.
    public init(from reader: inout GATTReader) throws(GATTValueError) {
        _ = try reader.uint16("Flags")
        function = try reader.value("Sampling Function")
        let period: UInt32 = try reader.integer("Measurement Period", bytes: 3)
        let updateInterval: UInt32 = try reader.integer("Internal Update Interval", bytes: 3)
        let application = try reader.uint8("Application")
        let uncertainty = try reader.uint8("Measurement Uncertainty")
        guard uncertainty <= 200 || uncertainty == 255 else {
            throw reader.reserved(uncertainty, "Measurement Uncertainty")
        }
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

/// Environmental Sensing Trigger Setting (290D): the condition under which a characteristic's value is notified.
///
/// A characteristic has up to three, which ``ESConfiguration`` combines. The sensor refuses a written setting that it
/// does not accept with the ATT errors 0x80, "Write Request Rejected", or 0x81, "Condition not supported". Source:
/// Environmental Sensing Service 1.0, 1.6 and 3.1.2.2; GATT Specification Supplement.
public struct ESTriggerSetting<Value: GATTValue>: GATTValue, CustomStringConvertible {
    /// The comparison of a value with the set value.
    public enum Comparison: UInt8, Sendable, CaseIterable {
        /// The value is less.
        case less = 4
        /// The value is less or equal.
        case lessOrEqual
        /// The value is greater.
        case greater
        /// The value is greater or equal.
        case greaterOrEqual
        /// The value is equal.
        case equal
        /// The value is not equal.
        case notEqual

        fileprivate var symbol: String { ["<", "≤", ">", "≥", "=", "≠"][Int(rawValue) - 4] }
    }

    /// The condition under which the sensor notifies.
    public enum Condition: Hashable, Sendable {
        /// The sensor never notifies.
        case inactive
        /// The sensor notifies once in this number of seconds, 24 bits.
        case interval(seconds: UInt32)
        /// The sensor notifies at most once in this number of seconds, 24 bits.
        case minimumInterval(seconds: UInt32)
        /// The sensor notifies each change of the value.
        case valueChanged
        /// The sensor notifies while the comparison of the value with this one is true.
        case comparison(Comparison, Value)
    }

    /// The condition under which the sensor notifies.
    public let condition: Condition

    /// Creates a setting.
    ///
    /// - Throws: ``GATTValueError`` for seconds of more than 24 bits.
    public init(_ condition: Condition) throws(GATTValueError) {
        switch condition {
        case .interval(let seconds), .minimumInterval(let seconds):
            _ = try Self.checked(seconds, "Operand", in: UInt32(0)...0xFF_FFFF)
        case .inactive, .valueChanged, .comparison: break
        }
        self.condition = condition
    }

    /// "ES Trigger Setting".
    public static var valueName: String { "ES Trigger Setting" }

    /// Reads the condition and its operand.
    ///
    /// - Throws: ``GATTValueError``, also if the condition, or the value, is reserved.
    public init(from reader: inout GATTReader) throws(GATTValueError) {
        let code = try reader.uint8("Condition")
        switch code {
        case 0: condition = .inactive
        case 1: condition = .interval(seconds: try reader.integer("Operand", bytes: 3))
        case 2: condition = .minimumInterval(seconds: try reader.integer("Operand", bytes: 3))
        case 3: condition = .valueChanged
        default:
            guard let comparison = Comparison(rawValue: code) else { throw reader.reserved(code, "Condition") }
            condition = .comparison(comparison, try Value(from: &reader))
        }
    }

    /// Writes the condition and its operand.
    public func write(to writer: inout GATTWriter) {
        switch condition {
        case .inactive: writer.append(UInt8(0))
        case .interval(let seconds):
            writer.append(UInt8(1))
            writer.append(seconds, bytes: 3)
        case .minimumInterval(let seconds):
            writer.append(UInt8(2))
            writer.append(seconds, bytes: 3)
        case .valueChanged: writer.append(UInt8(3))
        case .comparison(let comparison, let value):
            writer.append(comparison.rawValue, bytes: 1)
            writer.append(value)
        }
    }

    /// `each 60 s`, `while < 21.50 °C`.
    public var description: String {
        switch condition {
        case .inactive: "inactive"
        case .interval(let seconds): "each \(seconds) s"
        case .minimumInterval(let seconds): "at most each \(seconds) s"
        case .valueChanged: "when the value changed"
        case .comparison(let comparison, let value): "while \(comparison.symbol) \(value)"
        }
    }
}

/// Environmental Sensing Configuration (290B): the combination of a characteristic's trigger settings.
///
/// Source: Environmental Sensing Service 1.0, 3.1.2.3; GATT Specification Supplement.
public enum ESConfiguration: UInt8, GATTValue, CaseIterable, CustomStringConvertible {
    /// The value is notified when all conditions hold.
    case all = 0
    /// The value is notified when one of the conditions holds.
    case any = 1

    /// "ES Configuration".
    public static var valueName: String { "ES Configuration" }

    /// The value in words.
    public var description: String { self == .all ? "all conditions" : "any condition" }
}
