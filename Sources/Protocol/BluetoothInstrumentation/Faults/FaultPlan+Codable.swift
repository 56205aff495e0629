import BluetoothBackend
import BluetoothSupport

extension FaultTrigger: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case once, nth, rate, after
    }

    /// Reads `"once"`, `{"nth": 2}`, `{"rate": 0.1}` or `{"after": "5 s"}`.
    public init(from decoder: any Decoder) throws {
        let choice = try Choice<CodingKeys>(from: decoder)
        switch choice.key {
        case .once: self = .once
        case .nth: self = .nth(number: try choice.value())
        case .rate: self = .rate(probability: try choice.value())
        case .after: self = .after(time: try choice.duration())
        }
    }

    /// Writes the format of ``init(from:)``.
    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .once: try Choice(CodingKeys.once).encode(to: encoder)
        case .nth(let number): try Choice(CodingKeys.nth).encode(number, to: encoder)
        case .rate(let probability): try Choice(CodingKeys.rate).encode(probability, to: encoder)
        case .after(let time): try Choice(CodingKeys.after).encode(time.text, to: encoder)
        }
    }
}

extension FaultEffect: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case error, delay, drop, corrupt, duplicate, disconnect
    }

    /// Reads `"drop"`, `"corrupt"`, `"duplicate"`, `{"delay": "500 ms"}`, `{"disconnect": "timeout"}`, or an object
    /// with an `error`.
    public init(from decoder: any Decoder) throws {
        let choice = try Choice<CodingKeys>(from: decoder)
        switch choice.key {
        case .error: self = .error(try choice.value())
        case .delay: self = .delay(by: try choice.duration())
        case .drop: self = .drop
        case .corrupt: self = .corrupt
        case .duplicate: self = .duplicate
        case .disconnect: self = .disconnect(reason: try choice.value())
        }
    }

    /// Writes the format of ``init(from:)``.
    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .error(let error): try Choice(CodingKeys.error).encode(error, to: encoder)
        case .delay(let time): try Choice(CodingKeys.delay).encode(time.text, to: encoder)
        case .drop: try Choice(CodingKeys.drop).encode(to: encoder)
        case .corrupt: try Choice(CodingKeys.corrupt).encode(to: encoder)
        case .duplicate: try Choice(CodingKeys.duplicate).encode(to: encoder)
        case .disconnect(let reason): try Choice(CodingKeys.disconnect).encode(reason, to: encoder)
        }
    }
}

/// One of several words, alone or as the only key of an object, whose value belongs to it.
private struct Choice<Key: CodingKey & CaseIterable> {
    let key: Key
    private let path: [any CodingKey]
    /// The object; nil for a word alone.
    private let container: KeyedDecodingContainer<Key>?

    init(_ key: Key) { (self.key, path, container) = (key, [], nil) }

    init(from decoder: any Decoder) throws {
        path = decoder.codingPath
        let word = try? decoder.singleValueContainer().decode(String.self)
        container = word == nil ? try decoder.container(keyedBy: Key.self) : nil
        let keys = container?.allKeys ?? [word.flatMap(Key.init(stringValue:))].compactMap(\.self)
        guard let key = keys.first, keys.count == 1 else {
            let words = Key.allCases.map(\.stringValue).joined(separator: ", ")
            throw DecodingError.dataCorrupted(.init(codingPath: path, debugDescription: "one of \(words) is needed"))
        }
        self.key = key
    }

    func value<Value: Decodable>() throws -> Value {
        guard let container else {
            throw DecodingError.keyNotFound(key, .init(codingPath: path, debugDescription: "a value is needed"))
        }
        return try container.decode(Value.self, forKey: key)
    }

    func duration() throws -> Duration {
        let text: String = try value()
        guard let duration = Duration(text: text) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: path + [key], debugDescription: "\"\(text)\": \(Duration.textRule)"))
        }
        return duration
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(key.stringValue)
    }

    func encode(_ value: some Encodable, to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(value, forKey: key)
    }
}
