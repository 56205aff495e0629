import BluetoothProfiles
package import Foundation

/// A value in a message.
package enum MeasuredValue: Sendable, Equatable {
    case integer(Int64)
    case number(Double)
    case text(String)
    case flag(Bool)
}

/// A value that does not fit its format.
package struct FormatError: Error, Equatable, CustomStringConvertible {
    package var description: String
}

/// The conversion of a characteristic's bytes to a number or text, and back: `sint16/100`, `uint16be@2`, `text`.
///
/// The text consists of a type, `@` and the offset of its first byte, `/` and a divisor. Numbers are little-endian
/// unless the type ends with `be`.
package struct ValueFormat: Sendable, Equatable {
    enum Kind: Equatable {
        case integer(bytes: Int, isSigned: Bool, isBigEndian: Bool)
        case float(bytes: Int)
        case text
        case hexadecimal
        /// The fields of a Heart Rate Measurement (2A37): its rate.
        case heartRate
        /// A Temperature Measurement (2A1C), in degrees Celsius.
        case temperatureMeasurement
    }

    private static let kinds: [String: Kind] = {
        var kinds: [String: Kind] = [
            "float32": .float(bytes: 4), "float64": .float(bytes: 8), "text": .text, "hex": .hexadecimal,
            "heart-rate": .heartRate, "temperature-measurement": .temperatureMeasurement,
        ]
        for bytes in [1, 2, 3, 4, 8] {
            for (name, isSigned) in [("uint", false), ("sint", true)] {
                kinds["\(name)\(bytes * 8)"] = .integer(bytes: bytes, isSigned: isSigned, isBigEndian: false)
                if bytes > 1 {
                    kinds["\(name)\(bytes * 8)be"] = .integer(bytes: bytes, isSigned: isSigned, isBigEndian: true)
                }
            }
        }
        return kinds
    }()

    /// The names of the types.
    package static let typeNames: [String] = kinds.keys.sorted()

    let kind: Kind
    let offset: Int
    let divisor: Double

    /// Reads a format; nil if the text is not a format.
    package init?(_ text: String) {
        var rest = text[...]
        var divisor = 1.0
        if let slash = rest.firstIndex(of: "/") {
            guard let number = Double(rest[rest.index(after: slash)...]), number.isFinite, number > 0 else {
                return nil
            }
            divisor = number
            rest = rest[..<slash]
        }
        var offset = 0
        if let at = rest.firstIndex(of: "@") {
            guard let number = Int(rest[rest.index(after: at)...]), (0..<512).contains(number) else { return nil }
            offset = number
            rest = rest[..<at]
        }
        guard let kind = Self.kinds[String(rest)] else { return nil }
        self.kind = kind
        self.offset = offset
        self.divisor = divisor
        guard isNumber || divisor == 1, !isProfile || offset == 0 && divisor == 1 else { return nil }
    }

    /// Whether values are numbers.
    package var isNumber: Bool { kind != .text && kind != .hexadecimal }

    /// Whether a command can be written in this format.
    var isWritable: Bool { isNumber && !isProfile && offset == 0 }

    private var isProfile: Bool { kind == .heartRate || kind == .temperatureMeasurement }

    // MARK: Decoding

    /// Decodes bytes, which a device sent and which may be malformed.
    package func decode(_ data: Data) throws -> MeasuredValue {
        switch kind {
        case .heartRate: return .integer(Int64(try HeartRateMeasurement(decoding: data).rate))
        case .temperatureMeasurement: return try finite(TemperatureMeasurement(decoding: data).celsius)
        case .text, .hexadecimal:
            let bytes = data.dropFirst(offset)
            return .text(kind == .text ? String(decoding: bytes, as: UTF8.self) : Self.hexadecimal(bytes))
        case .integer(let count, let isSigned, let isBigEndian):
            return scaled(try integer(in: data, count, isSigned, isBigEndian))
        case .float(let count):
            let bits = UInt64(bitPattern: try integer(in: data, count, false, false))
            let value =
                count == 4 ? Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits))) : Double(bitPattern: bits)
            return try finite(value / divisor)
        }
    }

    private func integer(in data: Data, _ count: Int, _ isSigned: Bool, _ isBigEndian: Bool) throws -> Int64 {
        let bytes = data.dropFirst(offset).prefix(count)
        guard bytes.count == count else {
            throw FormatError(description: "the value has \(data.count) bytes, of which \(offset + count) are needed")
        }
        let ordered = isBigEndian ? Array(bytes) : bytes.reversed()
        let bits = ordered.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let unused = 64 - count * 8
        return isSigned ? Int64(bitPattern: bits << unused) >> unused : Int64(bitPattern: bits)
    }

    private func scaled(_ integer: Int64) -> MeasuredValue {
        if case .integer(8, false, _) = kind, integer < 0 {
            return .number(Double(UInt64(bitPattern: integer)) / divisor)
        }
        return divisor == 1 ? .integer(integer) : .number(Double(integer) / divisor)
    }

    private func finite(_ value: Double) throws -> MeasuredValue {
        guard value.isFinite else { throw FormatError(description: "the device reports no number") }
        return .number(value)
    }

    private static func hexadecimal(_ data: Data) -> String {
        data.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    // MARK: Encoding

    /// Encodes a number.
    package func encode(_ number: Double) throws -> Data {
        let scaled = number * divisor
        switch kind {
        case .float(4): return Self.bytes(UInt64(Float(scaled).bitPattern), 4, isBigEndian: false)
        case .float: return Self.bytes(scaled.bitPattern, 8, isBigEndian: false)
        case .integer(let count, let isSigned, let isBigEndian):
            let least = isSigned ? -pow(2, Double(count * 8 - 1)) : 0
            let limit = pow(2, Double(count * 8 - (isSigned ? 1 : 0)))
            let whole = scaled.rounded()
            guard whole >= least, whole < limit else { throw FormatError(description: "\(number) does not fit") }
            let bits = whole < 0 ? UInt64(bitPattern: Int64(whole)) : UInt64(whole)
            return Self.bytes(bits, count, isBigEndian: isBigEndian)
        case .text, .hexadecimal, .heartRate, .temperatureMeasurement:
            throw FormatError(description: "the format takes no numbers")
        }
    }

    private static func bytes(_ bits: UInt64, _ count: Int, isBigEndian: Bool) -> Data {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: bits >> UInt64($0 * 8)) }
        return Data(isBigEndian ? bytes.reversed() : bytes)
    }
}
