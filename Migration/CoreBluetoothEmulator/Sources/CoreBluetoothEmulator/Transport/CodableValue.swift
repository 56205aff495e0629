import CoreBluetooth
import Foundation

/// A value of an advertisement in a form that can be encoded.
///
/// JSON represents it as an object with `type` and `value`.
public enum CodableValue: Codable, Sendable, Equatable {
    /// Text.
    case string(String)
    /// Bytes.
    case data(Data)
    /// A number.
    case number(Double)
    /// True or false.
    case bool(Bool)
    /// A list.
    case array([CodableValue])
    /// A dictionary.
    case dictionary([String: CodableValue])
    /// A `CBUUID`, most significant byte first.
    case uuid(Data)

    private enum CodingKeys: String, CodingKey {
        case type, value
    }

    private enum Kind: String, Codable {
        case string, data, number, bool, array, dictionary, uuid
    }

    /// Decodes a value.
    ///
    /// - Throws: `DecodingError`, also for a UUID that does not have 2, 4 or 16 bytes.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        switch try container.decode(Kind.self, forKey: .type) {
        case .string: self = .string(try container.decode(String.self, forKey: .value))
        case .data: self = .data(try container.decode(Data.self, forKey: .value))
        case .number: self = .number(try container.decode(Double.self, forKey: .value))
        case .bool: self = .bool(try container.decode(Bool.self, forKey: .value))
        case .array: self = .array(try container.decode([CodableValue].self, forKey: .value))
        case .dictionary: self = .dictionary(try container.decode([String: CodableValue].self, forKey: .value))
        case .uuid:
            let bytes = try container.decode(Data.self, forKey: .value)
            guard [2, 4, 16].contains(bytes.count) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .value, in: container, debugDescription: "a UUID has 2, 4 or 16 bytes, not \(bytes.count)")
            }
            self = .uuid(bytes)
        }
    }

    /// Encodes the value.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        func encode(_ kind: Kind, _ value: some Encodable) throws {
            try container.encode(kind, forKey: .type)
            try container.encode(value, forKey: .value)
        }
        switch self {
        case .string(let text): try encode(.string, text)
        case .data(let bytes): try encode(.data, bytes)
        case .number(let number): try encode(.number, number)
        case .bool(let flag): try encode(.bool, flag)
        case .array(let values): try encode(.array, values)
        case .dictionary(let values): try encode(.dictionary, values)
        case .uuid(let bytes): try encode(.uuid, bytes)
        }
    }
}

extension CodableValue {
    /// The value in the type of advertisements: `String`, `Data`, `NSNumber`, `[Any]`, `[String: Any]` or `CBUUID`; a
    /// dictionary whose keys are all UUIDs has `CBUUID` keys.
    public var anyValue: Any {
        switch self {
        case .string(let text): text
        case .data(let bytes): bytes
        case .number(let number): NSNumber(value: number)
        case .bool(let flag): NSNumber(value: flag)
        case .array(let values): values.map(\.anyValue)
        case .dictionary(let values): Self.anyDictionary(values)
        case .uuid(let bytes): [2, 4, 16].contains(bytes.count) ? CBUUID(data: bytes) : bytes
        }
    }

    /// Returns the value of a `String`, `Data`, number, `Bool`, `CBUUID`, or of a list or dictionary of such; nil for
    /// others.
    public static func from(_ value: Any) -> CodableValue? {
        switch value {
        case let value as CodableValue: return value
        case let text as String: return .string(text)
        case let bytes as Data: return .data(bytes)
        case let uuid as CBUUID: return .uuid(uuid.data)
        case let number as NSNumber: return from(number)
        case let flag as Bool: return .bool(flag)
        case let values as [Any]: return all(values.map(from)).map { .array($0) }
        case let values as [CBUUID: Any]:
            return dictionary(values.map { (uuidPrefix + $0.key.data.map { hexadecimal($0) }.joined(), $0.value) })
        case let values as [String: Any]: return dictionary(values.map { ($0.key, $0.value) })
        default: return nil
        }
    }

    private static func from(_ number: NSNumber) -> CodableValue {
        // The type is the one that Foundation gives to a number made of a Bool.
        String(cString: number.objCType) == "c" && (number == 0 || number == 1)
            ? .bool(number.boolValue) : .number(number.doubleValue)
    }

    private static func dictionary(_ pairs: [(String, Any)]) -> CodableValue? {
        all(pairs.map { from($0.1) }).map { values in
            .dictionary(Dictionary(zip(pairs.map(\.0), values)) { $1 })
        }
    }

    private static func all(_ values: [CodableValue?]) -> [CodableValue]? {
        let known = values.compactMap { $0 }
        return known.count == values.count ? known : nil
    }

    // MARK: Keys that are UUIDs

    private static let uuidPrefix = "uuid:"

    private static func hexadecimal(_ byte: UInt8) -> String {
        (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }

    private static func anyDictionary(_ values: [String: CodableValue]) -> Any {
        let uuids = values.keys.compactMap(uuid)
        guard !values.isEmpty, uuids.count == values.count else { return values.mapValues(\.anyValue) }
        return Dictionary(values.compactMap { key, value in uuid(key).map { ($0, value.anyValue) } }) { $1 }
    }

    private static func uuid(_ key: String) -> CBUUID? {
        guard key.hasPrefix(uuidPrefix) else { return nil }
        let digits = Array(key.dropFirst(uuidPrefix.count))
        guard [4, 8, 32].contains(digits.count), digits.allSatisfy(\.isHexDigit) else { return nil }
        let bytes = stride(from: 0, to: digits.count, by: 2).compactMap {
            UInt8(String(digits[$0...($0 + 1)]), radix: 16)
        }
        return bytes.count * 2 == digits.count ? CBUUID(data: Data(bytes)) : nil
    }
}

extension [String: Any] {
    /// Returns the values that can be encoded; omits others.
    public func toCodable() -> [String: CodableValue] { compactMapValues(CodableValue.from) }
}

extension [String: CodableValue] {
    /// Returns the values in the types of advertisements.
    public func toAny() -> [String: Any] { mapValues(\.anyValue) }
}
