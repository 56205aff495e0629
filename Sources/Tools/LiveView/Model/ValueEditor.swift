import BluetoothBackend
import BluetoothSupport
import BluetoothValues

/// The way in which people edit a value: in its type or, without a known type, as bytes.
package struct ValueEditor: Codable, Hashable, Sendable {
    package enum Kind: String, Codable, Hashable, Sendable, CaseIterable {
        case number, text, toggle, choice, bytes
    }

    /// A number with a meaning.
    package struct Choice: Codable, Hashable, Sendable {
        package var number: Double
        package var text: String
    }

    package var kind: Kind
    /// The present value of every kind but text and bytes; nil if it does not have its layout, or is unknown.
    package var number: Double?
    /// The present value of a text; nil if it is not UTF-8.
    package var text: String?
    /// The unit of a number; empty without one.
    package var unit: String?
    package var minimum: Double?
    package var maximum: Double?
    /// The resolution of a number.
    package var step: Double?
    package var choices: [Choice]?
}

/// The type in which the value of a characteristic is edited.
struct ValueType: Sendable {
    /// A number in a value, whose other fields stay as they are.
    struct Number: Sendable {
        var unit = ""
        var range: ClosedRange<Double>
        var step = 1.0
        let read: @Sendable (Data) -> Double?
        let write: @Sendable (Double, _ present: Data) throws(GATTValueError) -> Data
    }

    enum Content: Sendable {
        case number(Number)
        case text
        /// A byte that is 0 or 1.
        case toggle
        /// A byte with meanings.
        case choice([ValueEditor.Choice])
        case bytes
    }

    let content: Content

    /// - Parameters:
    ///   - uuid: The UUID of the characteristic.
    ///   - value: The present value, by which a characteristic of unknown layout is a switch or a text.
    ///   - format: The value of the Characteristic Presentation Format, if the characteristic has one.
    init(of uuid: BluetoothUUID, value: Data, format: Data? = nil) {
        content =
            Self.standard(uuid, value) ?? format.flatMap(Self.presented)
            ?? (value == Data([0]) || value == Data([1]) ? .toggle : value.plainText != nil ? .text : .bytes)
    }

    /// The layout that the Bluetooth SIG defines; nil without one.
    private static func standard(_ uuid: BluetoothUUID, _ value: Data) -> Content? {
        guard let type = uuid.bits16.flatMap(StandardValues.type) else { return nil }
        if type == String.self { return .text }
        if type == HeartRateMeasurement.self { return .number(.heartRate) }
        if type == TemperatureMeasurement.self { return .number(.temperature(value)) }
        if type == BatteryLevel.self { return .number(.percent) }
        if type == MeasurementInterval.self { return .number(Number(UInt16.self, unit: "s")) }
        if let scalar = type as? any ScalarValue.Type { return .number(Number(scalar: scalar)) }
        if let cases = type as? any (GATTValue & CaseIterable & RawRepresentable<UInt8>).Type {
            return .choice(choices(cases))
        }
        return .bytes
    }

    private static func choices<Value: CaseIterable & RawRepresentable<UInt8>>(
        _ type: Value.Type
    ) -> [ValueEditor.Choice] {
        type.allCases.map { ValueEditor.Choice(number: Double($0.rawValue), text: "\($0)") }
    }

    /// The layout that a device describes; nil for one that people do not edit as a number or a text.
    private static func presented(_ format: Data) -> Content? {
        guard let format = Number.decode(PresentationFormat.self, format) else { return nil }
        func number(_ type: (some FixedWidthInteger & Sendable).Type) -> Content {
            .number(Number(type, exponent: format.exponent))
        }
        return switch format.format {
        case 0x01: .toggle
        case 0x04: number(UInt8.self)
        case 0x06: number(UInt16.self)
        case 0x08: number(UInt32.self)
        case 0x0C: number(Int8.self)
        case 0x0E: number(Int16.self)
        case 0x10: number(Int32.self)
        case 0x19: .text
        default: nil
        }
    }

    // MARK: Values

    /// Returns the editor of a value.
    func editor(of value: Data) -> ValueEditor {
        switch content {
        case .number(let number):
            ValueEditor(
                kind: .number, number: number.read(value), unit: number.unit, minimum: number.range.lowerBound,
                maximum: number.range.upperBound, step: number.step)
        case .text: ValueEditor(kind: .text, text: String(validating: value, as: UTF8.self))
        case .toggle: ValueEditor(kind: .toggle, number: value.count == 1 ? value.first.map(Double.init) : nil)
        case .choice(let choices):
            ValueEditor(
                kind: .choice, number: value.count == 1 ? value.first.map(Double.init) : nil, choices: choices)
        case .bytes: ValueEditor(kind: .bytes)
        }
    }

    /// Returns the bytes of a number in a value, whose other fields stay as they are.
    func bytes(of new: Double, in present: Data) throws(LiveError) -> Data {
        switch content {
        case .number(let number):
            guard number.range.contains(new) else {
                let (low, high) = (number.range.lowerBound.words, number.range.upperBound.words)
                throw .invalid("number", "\(low) to \(high)\(number.unit.isEmpty ? "" : " " + number.unit) is possible")
            }
            do {
                return try number.write(new, present)
            } catch {
                throw .invalid("number", "\(error)")
            }
        case .toggle:
            guard new == 0 || new == 1 else { throw .invalid("number", "0 is off, 1 is on") }
            return Data([UInt8(new)])
        case .choice(let choices):
            guard choices.contains(where: { $0.number == new }) else {
                let texts = choices.map { "\($0.number.words) (\($0.text))" }.joined(separator: ", ")
                throw .invalid("number", "the numbers are \(texts)")
            }
            return Data([UInt8(new)])
        case .text, .bytes: throw .invalid("number", "the value is no number: give text or value")
        }
    }
}

extension ValueType.Number {
    /// A little-endian integer in units of a power of ten.
    init<Integer: FixedWidthInteger & Sendable>(_ type: Integer.Type, exponent: Int8 = 0, unit: String = "") {
        let step = Self.power(exponent)
        self.init(
            unit: unit, range: Double(Integer.min) * step...Double(Integer.max) * step, step: step,
            read: { data in
                guard data.count == Integer.bitWidth / 8 else { return nil }
                let integer = data.reversed().reduce(Integer.zero) { $0 << 8 | Integer(truncatingIfNeeded: $1) }
                return Double(integer) * step
            },
            write: { (number, _) throws(GATTValueError) in
                let steps = (number / step).rounded()
                guard let integer = Integer(exactly: steps) else {
                    let range = Double(Integer.min) * step...Double(Integer.max) * step
                    throw GATTValueError(value: "Number", field: "Number", problem: .outOfRange(number, allowed: range))
                }
                return Data(
                    (0..<Integer.bitWidth / 8).map { UInt8(truncatingIfNeeded: integer >> Integer($0 * 8)) })
            })
    }

    private static func power(_ exponent: Int8) -> Double {
        let power = repeatElement(10.0, count: abs(Int(exponent))).reduce(1, *)
        return exponent < 0 ? 1 / power : power
    }

    /// A quantity of fixed resolution.
    init<Value: ScalarValue>(scalar type: Value.Type) {
        let layout = type.layout
        let scale = Double(layout.stepsPerUnit)
        self.init(
            unit: layout.unit, range: Double(layout.range.lowerBound) / scale...Double(layout.range.upperBound) / scale,
            step: 1 / scale, read: { Self.decode(type, $0)?.value },
            write: { (number, _) throws(GATTValueError) in try type.init(number).encoded })
    }

    static var percent: Self {
        Self(
            unit: "%", range: 0...100, read: { decode(BatteryLevel.self, $0).map { Double($0.percent) } },
            write: { (number, _) throws(GATTValueError) in try BatteryLevel(percent: Int(number.rounded())).encoded })
    }

    /// The rate of a measurement, which keeps its contact, energy and intervals.
    static var heartRate: Self {
        Self(
            unit: "bpm", range: 0...65_535, read: { decode(HeartRateMeasurement.self, $0).map { Double($0.rate) } },
            write: { (number, present) throws(GATTValueError) in
                var measurement = decode(HeartRateMeasurement.self, present) ?? HeartRateMeasurement(rate: 0)
                measurement.rate = UInt16(number.rounded())
                return measurement.encoded
            })
    }

    /// The temperature of a measurement, in the unit of the present one.
    static func temperature(_ present: Data) -> Self {
        let unit = decode(TemperatureMeasurement.self, present)?.unit ?? .celsius
        return Self(
            unit: unit == .celsius ? "°C" : "°F", range: -200...1_000, step: 0.1,
            read: { decode(TemperatureMeasurement.self, $0).map(\.temperature.value) },
            write: { (number, present) throws(GATTValueError) in
                let temperature = try MedicalFloat(number)
                var measurement = decode(TemperatureMeasurement.self, present) ?? TemperatureMeasurement(temperature)
                measurement.temperature = temperature
                return measurement.encoded
            })
    }

    /// Decodes a present value; nil for a malformed one, which a new value replaces.
    fileprivate static func decode<Value: GATTValue>(_ type: Value.Type, _ data: Data) -> Value? {
        do throws(GATTValueError) {
            return try type.init(decoding: data)
        } catch {
            return nil
        }
    }
}

extension Double {
    /// The number without a point if it is whole.
    fileprivate var words: String { Int(exactly: self).map { "\($0)" } ?? "\(self)" }
}
