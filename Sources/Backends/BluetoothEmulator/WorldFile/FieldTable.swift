import BluetoothBackend
import BluetoothSupport

/// The fields of a type of world files, which define its decoding and encoding.
///
/// Decoding refuses unknown fields and leaves missing ones at their default values; encoding omits fields with default
/// values.
struct FieldTable<Root: Sendable>: Sendable {
    /// An object in which each field has its default value.
    let defaults: Root
    private let fields: [Field<Root>]

    init(_ defaults: Root, _ fields: Field<Root>...) {
        self.defaults = defaults
        self.fields = fields
    }

    var names: Set<String> { Set(fields.map(\.name)) }

    /// Decodes an object; the caller decodes the fields in `other`.
    func read(_ decoder: any Decoder, beside other: Set<String> = []) throws -> Root {
        let names = names.union(other)
        let container = try decoder.container(keyedBy: FieldName.self)
        for unknown in container.allKeys.map(\.stringValue).sorted() where !names.contains(unknown) {
            let rule = "there is no such field; known are \(names.sorted().joined(separator: ", "))"
            let path = decoder.codingPath + [FieldName(unknown)]
            try decoder.collecting(()) {
                throw DecodingError.dataCorrupted(DecodingError.Context(codingPath: path, debugDescription: rule))
            }
        }
        var object = defaults
        var reader = FieldReader(
            container: container, name: "", collector: .of(decoder), recordings: .of(decoder))
        for field in fields {
            reader.name = field.name
            try decoder.collecting(()) {
                try field.read(&object, reader)
            }
        }
        return object
    }

    /// Encodes an object; `defaults` replaces the default values if they depend on other fields of the object.
    func write(_ object: Root, _ encoder: any Encoder, defaults: Root? = nil) throws {
        var container = encoder.container(keyedBy: FieldName.self)
        let defaults = defaults ?? self.defaults
        for field in fields { try field.write(object, defaults, &container) }
    }
}

/// A type of world files that is decoded and encoded by its fields.
protocol WorldFileObject: Codable, Sendable {
    static var fields: FieldTable<Self> { get }
}

extension WorldFileObject {
    /// Decodes an object of a world file.
    public init(from decoder: any Decoder) throws {
        self = try decoder.collecting(Self.fields.defaults) { try Self.fields.read(decoder) }
    }

    /// Encodes an object for a world file, without the fields that have their default values.
    public func encode(to encoder: any Encoder) throws { try Self.fields.write(self, encoder) }
}

/// One field of a type of world files.
struct Field<Root: Sendable>: Sendable {
    typealias Writer = KeyedEncodingContainer<FieldName>

    let name: String
    let read: @Sendable (inout Root, FieldReader) throws -> Void
    let write: @Sendable (_ object: Root, _ defaults: Root, inout Writer) throws -> Void

    /// A field with custom decoding and encoding; `write` returns the encoded value.
    static func custom<Value: Encodable & SendableMetatype>(
        _ name: String, read: @escaping @Sendable (inout Root, FieldReader) throws -> Void,
        write: @escaping @Sendable (Root) -> Value?
    ) -> Field {
        Field(name: name, read: read) { object, _, container in
            try container.encodeIfPresent(write(object), forKey: FieldName(name))
        }
    }

    /// A required field.
    static func required<Value: Codable & SendableMetatype>(
        _ name: String, _ path: any WritableKeyPath<Root, Value> & Sendable
    ) -> Field {
        custom(name, read: { $0[keyPath: path] = try $1.required() }, write: { $0[keyPath: path] })
    }

    /// A field with a value; `isAlwaysWritten` encodes a default value, too.
    static func value<Value: Codable & Equatable & SendableMetatype>(
        _ name: String, _ path: any WritableKeyPath<Root, Value> & Sendable, isAlwaysWritten: Bool = false
    ) -> Field {
        value(name, path, ValueForm(read: { value, _ in value }, write: { $0 }), isAlwaysWritten: isAlwaysWritten)
    }

    /// A field with a value in another form; a required one is always encoded.
    static func value<Value: Equatable & SendableMetatype, Written: Codable & SendableMetatype>(
        _ name: String, _ path: any WritableKeyPath<Root, Value> & Sendable, _ form: ValueForm<Value, Written>,
        isRequired: Bool = false, isAlwaysWritten: Bool = false
    ) -> Field {
        Field(
            name: name,
            read: { object, field in
                guard let written: Written = try field.value() else {
                    if isRequired { throw field.error("the field is missing") }
                    return
                }
                object[keyPath: path] = try form.read(written, field)
            },
            write: { object, defaults, container in
                let value = object[keyPath: path]
                guard isRequired || isAlwaysWritten || value != defaults[keyPath: path] else { return }
                try container.encode(form.write(value), forKey: FieldName(name))
            })
    }

    /// A field with an optional value in another form.
    static func value<Value: SendableMetatype, Written: Codable & SendableMetatype>(
        _ name: String, _ path: any WritableKeyPath<Root, Value?> & Sendable, _ form: ValueForm<Value, Written>
    ) -> Field {
        custom(
            name,
            read: { object, field in
                if let written: Written = try field.value() { object[keyPath: path] = try form.read(written, field) }
            }, write: { $0[keyPath: path].map(form.write) })
    }
}

/// A field of an object that is being decoded.
struct FieldReader {
    let container: KeyedDecodingContainer<FieldName>
    var name: String
    /// The element of the field's list that is being decoded; nil for the field itself.
    var element: FieldName?
    /// The collector of mistakes; nil if the first mistake ends the decoding.
    var collector: MistakeCollector?
    /// The recordings next to the file that is being decoded; nil for a text without a file.
    var recordings: RecordingFiles?

    func required<Value: Decodable>() throws -> Value {
        if let value: Value = try value() { return value }
        // The field is missing or null, and this throws the matching error.
        return try container.decode(Value.self, forKey: FieldName(name))
    }

    func value<Value: Decodable>() throws -> Value? {
        do {
            return try container.decodeIfPresent(Value.self, forKey: FieldName(name))
        } catch DecodingError.typeMismatch(let type, let context) {
            throw mismatch(type, context)
        } catch let error as DecodingError {
            throw error
        } catch let error as DescriptionError {
            throw error
        } catch {
            // Foundation reports a number that does not fit the type this way, without the field.
            throw self.error("a number that is whole and not too large or too small is wanted here")
        }
    }

    /// Decodes each element of the field; if mistakes are collected, one per element is.
    ///
    /// - Parameter elements: The elements of a list with their indices, or of an object with their names.
    func elements<Written, Value>(
        _ elements: some Sequence<(FieldName, Written)>, _ read: (Written, FieldReader) throws -> Value
    ) throws -> [Value] {
        try elements.compactMap { name, written in
            var reader = self
            reader.element = name
            return try collector.collecting(nil) { try read(written, reader) }
        }
    }

    /// Decodes each element of a list.
    func list<Written, Value>(
        _ list: [Written], _ read: (Written, FieldReader) throws -> Value
    ) throws -> [Value] {
        try elements(list.enumerated().map { (FieldName(intValue: $0), $1) }, read)
    }

    /// Returns the error for a value of another type; if text replaces a number, the error names the number.
    private func mismatch(_ type: Any.Type, _ context: DecodingError.Context) -> DecodingError {
        let path = context.codingPath.dropFirst(container.codingPath.count + 1)
        guard type is any Numeric.Type, case .text(let text)? = value(at: path) else {
            return .typeMismatch(type, context)
        }
        let sign = ["-", "+"].contains(text.first) ? text.prefix(1) : ""
        let digits = text.dropFirst(sign.count)
        var rule = "\"\(text)\" is text, and a number is wanted here"
        if digits.allSatisfy({ $0.isASCII && $0.isNumber }), let last = digits.last {
            rule += ": write \(sign.filter { $0 == "-" })\(digits.dropLast().drop { $0 == "0" })\(last)"
        }
        return .dataCorrupted(DecodingError.Context(codingPath: context.codingPath, debugDescription: rule))
    }

    /// Returns the value at a path within the field; nil if it is not JSON.
    private func value(at path: ArraySlice<any CodingKey>) -> JSONValue? {
        let whole = try? container.decode(JSONValue.self, forKey: FieldName(name))
        return path.reduce(whole) { value, key in
            switch (value, key.intValue) {
            case (.object(let fields), _): fields[key.stringValue]
            case (.list(let elements), let index?) where elements.indices.contains(index): elements[index]
            default: nil
            }
        }
    }

    func error(_ rule: String) -> DecodingError {
        let path = container.codingPath + [FieldName(name)] + [element].compactMap(\.self)
        return .dataCorrupted(DecodingError.Context(codingPath: path, debugDescription: rule))
    }
}

/// The conversion between a value and its form in world files.
struct ValueForm<Value, Written>: Sendable {
    let read: @Sendable (Written, FieldReader) throws -> Value
    let write: @Sendable (Value) -> Written
}

extension ValueForm where Written == String {
    /// A form as text, with the rule that describes it.
    static func text(
        rule: String, parse: @escaping @Sendable (String) -> Value?, text: @escaping @Sendable (Value) -> String
    ) -> ValueForm {
        ValueForm(
            read: { text, field in
                guard let value = parse(text) else { throw field.error("\"\(text)\": \(rule)") }
                return value
            }, write: text)
    }
}

extension ValueForm where Written == [String] {
    static func list<Element>(_ form: ValueForm<Element, String>) -> ValueForm where Value == [Element] {
        ValueForm(
            read: { texts, field in try field.list(texts, form.read) }, write: { $0.map(form.write) })
    }
}

extension ValueForm where Value: OptionSet & Sendable, Value.Element == Value, Written == [String] {
    /// A form as a list with the names of the options in a set.
    static func options(_ names: String, _ options: [(key: String, value: Value)]) -> ValueForm {
        ValueForm(
            read: { texts, field in
                let known = try field.list(texts) { text, field in
                    guard let option = options.first(where: { $0.key == text })?.value else {
                        let known = options.map(\.key).joined(separator: ", ")
                        throw field.error("\"\(text)\": the \(names) are \(known)")
                    }
                    return option
                }
                return Value(known)
            }, write: { value in options.filter { value.contains($0.value) }.map(\.key) })
    }
}

extension ValueForm where Value == Data, Written == String {
    static let hex = text(
        rule: "bytes are an even number of hexadecimal digits", parse: { Data(hexText: $0) }, text: \.hexText)
}

extension ValueForm where Value == BluetoothUUID, Written == String {
    static let uuid = ValueForm(
        read: { text, field in
            guard let uuid = BluetoothUUID(text) else { throw field.error("\"\(text)\" is not a UUID") }
            return uuid
        }, write: \.text)
}

extension ValueForm where Value == DeviceAddress, Written == String {
    static let address = text(
        rule: "an address is six groups of two hexadecimal digits with colons", parse: { DeviceAddress($0) },
        text: \.description)
}

extension ValueForm where Value == HCIPortAddress, Written == String {
    static let port = text(rule: HCIPortAddress.rule, parse: { HCIPortAddress($0) }, text: \.description)
}

extension ValueForm
where Value: RawRepresentable & SendableMetatype, Value.RawValue == String, Written == String {
    /// A form as one of the given names, which the rule lists.
    static func name(_ names: String, of values: [Value]) -> ValueForm {
        text(
            rule: "the \(names) are \(values.map(\.rawValue).joined(separator: ", "))",
            parse: { Value(rawValue: $0) }, text: \.rawValue)
    }
}

extension ValueForm where Value == Duration, Written == String {
    /// A form as a number and a unit.
    static let duration = text(rule: Duration.textRule, parse: { Duration(text: $0) }, text: \.text)
}
