/// Environmental Sensing Trigger Setting (290D): when a characteristic's value is notified.
///
/// A characteristic has up to three; ``ESConfiguration`` says how they go together. A written one that the sensor does
/// not take is answered with the ATT errors 0x80, "Write Request Rejected", or 0x81, "Condition not supported".
/// Source: Environmental Sensing Service 1.0, 1.6 and 3.1.2.2; GATT Specification Supplement.
public struct ESTriggerSetting<Value: GATTValue>: GATTValue, CustomStringConvertible {
    /// How a value is compared with the one that is set.
    public enum Comparison: UInt8, Sendable, CaseIterable {
        /// While the value is less.
        case less = 4
        /// While the value is less or equal.
        case lessOrEqual
        /// While the value is greater.
        case greater
        /// While the value is greater or equal.
        case greaterOrEqual
        /// While the value is equal.
        case equal
        /// While the value is not equal.
        case notEqual

        fileprivate var symbol: String { ["<", "≤", ">", "≥", "=", "≠"][Int(rawValue) - 4] }
    }

    /// What makes the sensor notify.
    public enum Condition: Hashable, Sendable {
        /// Nothing does.
        case inactive
        /// Each so many seconds, 24 bits.
        case interval(seconds: UInt32)
        /// Not before so many seconds since the last, 24 bits.
        case minimumInterval(seconds: UInt32)
        /// Whenever the value changed.
        case valueChanged
        /// While the value compares so with another one.
        case comparison(Comparison, Value)
    }

    /// What makes the sensor notify.
    public let condition: Condition

    /// A setting.
    ///
    /// - Throws: That the seconds have more than 24 bits.
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
    /// - Throws: Also that the condition, or the value, is reserved.
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
