import BluetoothBackend
import BluetoothSupport

/// The fields of a type of world files, from which reading and writing follow.
///
/// Reading refuses an unknown field and leaves a missing one at its default; writing omits a field with its default.
struct FieldTable<Root: Sendable>: Sendable {
    /// An object in which each field has its default.
    let defaults: Root
    private let fields: [Field<Root>]

    init(_ defaults: Root, _ fields: Field<Root>...) {
        self.defaults = defaults
        self.fields = fields
    }

    var names: Set<String> { Set(fields.map(\.name)) }

    func read(_ decoder: any Decoder) throws -> Root {
        let container = try decoder.container(keyedBy: FieldName.self)
        if let unknown = container.allKeys.map(\.stringValue).sorted().first(where: { !names.contains($0) }) {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: decoder.codingPath + [FieldName(unknown)],
                    debugDescription: "there is no such field; known are \(names.sorted().joined(separator: ", "))"))
        }
        var object = defaults
        for field in fields { try field.read(&object, FieldReader(container: container, name: field.name)) }
        return object
    }

    /// Writes an object; `defaults`: those that depend on other fields of it.
    func write(_ object: Root, _ encoder: any Encoder, defaults: Root? = nil) throws {
        var container = encoder.container(keyedBy: FieldName.self)
        let defaults = defaults ?? self.defaults
        for field in fields { try field.write(object, defaults, &container) }
    }
}

/// One field of a type of world files.
struct Field<Root: Sendable>: Sendable {
    typealias Writer = KeyedEncodingContainer<FieldName>

    let name: String
    let read: @Sendable (inout Root, FieldReader) throws -> Void
    let write: @Sendable (_ object: Root, _ defaults: Root, inout Writer) throws -> Void

    /// A field with its own reading and writing; what `write` returns is written.
    static func custom<Value: Encodable & SendableMetatype>(
        _ name: String, read: @escaping @Sendable (inout Root, FieldReader) throws -> Void,
        write: @escaping @Sendable (Root) -> Value?
    ) -> Field {
        Field(name: name, read: read) { object, _, container in
            try container.encodeIfPresent(write(object), forKey: FieldName(name))
        }
    }

    /// A field that must be there.
    static func required<Value: Codable & SendableMetatype>(
        _ name: String, _ path: any WritableKeyPath<Root, Value> & Sendable
    ) -> Field {
        custom(name, read: { $0[keyPath: path] = try $1.required() }, write: { $0[keyPath: path] })
    }

    /// A field with a value; `isAlwaysWritten`: also where it has its default.
    static func value<Value: Codable & Equatable & SendableMetatype>(
        _ name: String, _ path: any WritableKeyPath<Root, Value> & Sendable, isAlwaysWritten: Bool = false
    ) -> Field {
        Field(
            name: name,
            read: { object, field in
                if let value: Value = try field.value() { object[keyPath: path] = value }
            },
            write: { object, defaults, container in
                guard isAlwaysWritten || object[keyPath: path] != defaults[keyPath: path] else { return }
                try container.encode(object[keyPath: path], forKey: FieldName(name))
            })
    }

    /// A field with a text; `isRequired`: it must be there, and is always written.
    static func text<Value: Equatable & Sendable>(
        _ name: String, _ path: any WritableKeyPath<Root, Value> & Sendable, _ form: TextForm<Value>,
        isRequired: Bool = false
    ) -> Field {
        Field(
            name: name,
            read: { object, field in
                guard let text: String = try field.value() else {
                    if isRequired { throw field.error("the field is missing") }
                    return
                }
                object[keyPath: path] = try field.parse(text, form)
            },
            write: { object, defaults, container in
                let value = object[keyPath: path]
                guard isRequired || value != defaults[keyPath: path] else { return }
                try container.encode(form.text(value), forKey: FieldName(name))
            })
    }

    /// A field with a text, or none.
    static func text<Value: Equatable & Sendable>(
        _ name: String, _ path: any WritableKeyPath<Root, Value?> & Sendable, _ form: TextForm<Value>
    ) -> Field {
        custom(
            name,
            read: { object, field in
                if let text: String = try field.value() { object[keyPath: path] = try field.parse(text, form) }
            }, write: { $0[keyPath: path].map(form.text) })
    }

    /// A field with a list of texts, the elements of a value.
    static func texts<Element: Sendable, Value: Equatable & Sendable>(
        _ name: String, _ path: any WritableKeyPath<Root, Value> & Sendable, _ form: TextForm<Element>,
        isAlwaysWritten: Bool = false, _ make: @escaping @Sendable ([Element]) -> Value,
        _ elements: @escaping @Sendable (Value) -> [Element]
    ) -> Field {
        Field(
            name: name,
            read: { object, field in
                guard let texts: [String] = try field.value() else { return }
                object[keyPath: path] = make(try texts.map { try field.parse($0, form) })
            },
            write: { object, defaults, container in
                let value = object[keyPath: path]
                guard isAlwaysWritten || value != defaults[keyPath: path] else { return }
                try container.encode(elements(value).map(form.text), forKey: FieldName(name))
            })
    }
}

/// The name of a field.
struct FieldName: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(_ name: String) { self.init(stringValue: name) }
    init(stringValue: String) { (self.stringValue, intValue) = (stringValue, nil) }
    init(intValue: Int) { (stringValue, self.intValue) = ("\(intValue)", intValue) }
}

/// One field of an object that is read.
struct FieldReader {
    let container: KeyedDecodingContainer<FieldName>
    let name: String

    func required<Value: Decodable>() throws -> Value { try container.decode(Value.self, forKey: FieldName(name)) }

    func value<Value: Decodable>() throws -> Value? {
        try container.decodeIfPresent(Value.self, forKey: FieldName(name))
    }

    func parse<Value>(_ text: String, _ form: TextForm<Value>) throws -> Value {
        guard let value = form.parse(text) else { throw error("\"\(text)\": \(form.rule)") }
        return value
    }

    func error(_ rule: String) -> DecodingError {
        .dataCorruptedError(forKey: FieldName(name), in: container, debugDescription: rule)
    }
}

/// A value as text, with the rule for it.
struct TextForm<Value>: Sendable {
    let rule: String
    let parse: @Sendable (String) -> Value?
    let text: @Sendable (Value) -> String
}

extension TextForm where Value == Data {
    static let hex = TextForm(
        rule: "bytes are an even number of hexadecimal digits", parse: { Data(hexText: $0) }, text: \.hexText)
}

extension TextForm where Value == DeviceAddress {
    static let address = TextForm(
        rule: "an address is six groups of two hexadecimal digits with colons", parse: { DeviceAddress($0) },
        text: \.description)
}

extension TextForm where Value: RawRepresentable & SendableMetatype, Value.RawValue == String {
    /// One of the given names, which the rule lists.
    static func name(_ names: String, of values: [Value]) -> TextForm {
        TextForm(
            rule: "the \(names) are \(values.map(\.rawValue).joined(separator: ", "))",
            parse: { Value(rawValue: $0) }, text: \.rawValue)
    }
}

extension TextForm where Value == Duration {
    /// A number and a unit.
    static let duration = TextForm(
        rule: "a time is a number and a unit: us, ms, s, min or h, as in \"100 ms\"", parse: duration(_:),
        text: text(of:))

    private static let units: [(name: String, nanoseconds: Int64)] = [
        ("h", 3_600_000_000_000), ("min", 60_000_000_000), ("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000),
    ]

    @Sendable private static func duration(_ text: String) -> Duration? {
        let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let unit = text.dropFirst(digits.count).drop { $0 == " " }
        guard let factor = units.first(where: { $0.name == unit })?.nanoseconds, let number = Double(digits),
            number * Double(factor) < 1e18
        else { return nil }
        return .nanoseconds(Int64((number * Double(factor)).rounded()))
    }

    @Sendable private static func text(of duration: Duration) -> String {
        let nanoseconds = duration.nanoseconds
        guard let unit = units.first(where: { nanoseconds != 0 && nanoseconds % $0.nanoseconds == 0 }) else {
            return "\(Double(nanoseconds) / 1000) us"
        }
        return "\(nanoseconds / unit.nanoseconds) \(unit.name)"
    }
}
