import BluetoothSupport

/// An object of a world file, read field by field; a field that is not known is an error.
struct StrictContainer<Key: CodingKey & CaseIterable> {
    private struct AnyKey: CodingKey {
        let stringValue: String
        let intValue: Int?
        init(stringValue: String) {
            self.stringValue = stringValue
            intValue = nil
        }
        init(intValue: Int) {
            stringValue = "\(intValue)"
            self.intValue = intValue
        }
    }

    private let container: KeyedDecodingContainer<Key>

    init(_ decoder: any Decoder, keyedBy: Key.Type) throws {
        let all = try decoder.container(keyedBy: AnyKey.self)
        let known = Set(Key.allCases.map(\.stringValue))
        if let unknown = all.allKeys.map(\.stringValue).sorted().first(where: { !known.contains($0) }) {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: decoder.codingPath + [AnyKey(stringValue: unknown)],
                    debugDescription: "there is no such field; known are \(known.sorted().joined(separator: ", "))"))
        }
        container = try decoder.container(keyedBy: Key.self)
    }

    func required<Value: Decodable>(_ key: Key, as type: Value.Type = Value.self) throws -> Value {
        try container.decode(type, forKey: key)
    }

    func optional<Value: Decodable>(_ key: Key, as type: Value.Type = Value.self) throws -> Value? {
        try container.decodeIfPresent(type, forKey: key)
    }

    /// Reads text and makes something of it.
    func text<Value>(_ key: Key, _ rule: String, _ make: (String) -> Value?) throws -> Value? {
        guard let text = try container.decodeIfPresent(String.self, forKey: key) else { return nil }
        guard let value = make(text) else { throw error(key, "\"\(text)\": \(rule)") }
        return value
    }

    /// Reads a list of text and makes something of each.
    func texts<Value>(_ key: Key, _ rule: String, _ make: (String) -> Value?) throws -> [Value]? {
        try container.decodeIfPresent([String].self, forKey: key)?.map { text in
            guard let value = make(text) else { throw error(key, "\"\(text)\": \(rule)") }
            return value
        }
    }

    func error(_ key: Key, _ rule: String) -> DecodingError {
        .dataCorruptedError(forKey: key, in: container, debugDescription: rule)
    }
}

/// The rules of text fields.
enum TextRule {
    static let hex = "bytes are an even number of hexadecimal digits"
    static let duration = "a time is a number and a unit: us, ms, s, min or h, as in \"100 ms\""
    static let address = "an address is six groups of two hexadecimal digits with colons"
    static let properties =
        "the properties are \(CharacteristicPropertyName.allCases.map(\.rawValue).joined(separator: ", "))"
    static let permissions = "the permissions are \(PermissionName.allCases.map(\.rawValue).joined(separator: ", "))"
}

/// A time as text: a number and a unit.
enum DurationText {
    private static let units: [(name: String, nanoseconds: Int64)] = [
        ("h", 3_600_000_000_000), ("min", 60_000_000_000), ("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000),
    ]

    static func parse(_ text: String) -> Duration? {
        let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let unit = text.dropFirst(digits.count).drop { $0 == " " }
        guard let factor = units.first(where: { $0.name == unit })?.nanoseconds, let number = Double(digits),
            number * Double(factor) < 1e18
        else { return nil }
        return .nanoseconds(Int64((number * Double(factor)).rounded()))
    }

    static func text(_ duration: Duration) -> String {
        let nanoseconds = duration.nanoseconds
        guard let unit = units.first(where: { nanoseconds != 0 && nanoseconds % $0.nanoseconds == 0 }) else {
            return "\(Double(nanoseconds) / 1000) us"
        }
        return "\(nanoseconds / unit.nanoseconds) \(unit.name)"
    }
}

extension DescriptionError {
    /// What a decoder found wrong, with the path as people write it.
    init(_ error: DecodingError) {
        let (context, rule): (DecodingError.Context, String) =
            switch error {
            case .keyNotFound(let key, let context): (context, "the field \"\(key.stringValue)\" is missing")
            case .typeMismatch(let type, let context): (context, "\(Self.name(of: type)) is wanted here")
            case .valueNotFound(let type, let context): (context, "\(Self.name(of: type)) is wanted here, not null")
            case .dataCorrupted(let context): (context, context.debugDescription)
            @unknown default: (DecodingError.Context(codingPath: [], debugDescription: ""), "\(error)")
            }
        self.init(Self.path(context.codingPath), rule)
        if context.codingPath.isEmpty, case .dataCorrupted = error {
            self.rule = "not JSON: " + (context.underlyingError.map { "\($0)" } ?? context.debugDescription)
        }
    }

    /// What is wrong with a text, and where.
    ///
    /// The decoder tells no place of what is no JSON, and takes some of that for JSON.
    func located(in bytes: [UInt8]) -> DescriptionError {
        guard let mistake = JSONScanner.mistake(in: bytes) else {
            return at(JSONScanner.offset(of: path, in: bytes), in: bytes)
        }
        return DescriptionError("", "not JSON: \(mistake.rule)").at(mistake.offset, in: bytes)
    }

    private static func name(of type: Any.Type) -> String {
        switch "\(type)" {
        case "String": "text"
        case "Bool": "true or false"
        case "Int", "Int8", "Double": "a number"
        case let name where name.hasPrefix("Array"): "a list"
        case let name where name.hasPrefix("Dictionary"): "an object"
        case let name: name
        }
    }

    static func path(_ keys: [any CodingKey]) -> String {
        keys.reduce("") { path, key in
            if let index = key.intValue { return path + "[\(index)]" }
            return path.isEmpty ? key.stringValue : path + "." + key.stringValue
        }
    }
}
