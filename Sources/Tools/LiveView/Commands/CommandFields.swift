import BluetoothEmulator
import BluetoothSupport

/// The fields of a command's JSON object.
struct CommandFields {
    private let container: KeyedDecodingContainer<FieldName>

    /// - Parameter names: The fields that the command has; any other field is a mistake.
    init(_ body: Data, _ names: String...) throws(LiveError) {
        do {
            container = try JSONDecoder().decode(Object.self, from: body.isEmpty ? Data("{}".utf8) : body).container
        } catch {
            throw .invalid("", "the body is a JSON object")
        }
        if let unknown = container.allKeys.map(\.stringValue).sorted().first(where: { !names.contains($0) }) {
            throw .invalid(
                unknown, names.isEmpty ? "no field is wanted" : "the fields are \(names.joined(separator: ", "))")
        }
        guard names.isEmpty || container.allKeys.count > 0 else {
            throw .invalid("", "the fields are \(names.joined(separator: ", "))")
        }
    }

    /// Returns the value of a field; nil if it is missing.
    func value<Value: Decodable>(_ name: String) throws(LiveError) -> Value? {
        guard isPresent(name) else { return nil }
        do {
            return try container.decode(Value.self, forKey: FieldName(name))
        } catch {
            throw .invalid(name, Self.rule(for: Value.self))
        }
    }

    func required<Value: Decodable>(_ name: String) throws(LiveError) -> Value {
        guard let value: Value = try value(name) else { throw .invalid(name, "the field is missing") }
        return value
    }

    func isPresent(_ name: String) -> Bool { container.contains(FieldName(name)) }

    /// Whether the field exists and is null.
    func isNull(_ name: String) throws(LiveError) -> Bool {
        guard isPresent(name) else { return false }
        do {
            return try container.decodeNil(forKey: FieldName(name))
        } catch {
            throw .invalid(name, "the field cannot be read")
        }
    }

    /// Returns a finite number within a range.
    func number(_ name: String, in range: ClosedRange<Double>) throws(LiveError) -> Double? {
        guard let value: Double = try value(name) else { return nil }
        guard range.contains(value) else {
            throw .invalid(name, "the number is \(range.lowerBound)...\(range.upperBound)")
        }
        return value
    }

    private static func rule(for type: Any.Type) -> String {
        switch type {
        case is Bool.Type: "true or false is wanted here"
        case is Int.Type: "a whole number is wanted here"
        case is Double.Type: "a number is wanted here"
        case is String.Type: "a text is wanted here"
        default: "the field has another type"
        }
    }

    private struct Object: Decodable {
        let container: KeyedDecodingContainer<FieldName>

        init(from decoder: any Decoder) throws { container = try decoder.container(keyedBy: FieldName.self) }
    }
}
