#if Emulator
import Foundation

/// The part of the schema of world files that describes one value.
///
/// Only the field decides in YAML whether `1809` is a number or the text of a UUID.
final class WorldSchema: Decodable, Sendable {
    /// The kinds of values.
    enum Kind { case text, number, boolean, list, object }

    private enum Key: String, CodingKey {
        case reference = "$ref", definitions = "$defs", constant = "const", others = "additionalProperties"
        case type, items, properties
    }

    /// The schema of a whole file.
    static let file: WorldSchema = {
        do {
            return try JSONDecoder().decode(WorldSchema.self, from: Data(PackageResources.world_schema_json))
        } catch {
            // The resource is part of the program, and tests read it.
            preconditionFailure("the schema of world files cannot be read: \(error)")
        }
    }()

    private let reference: String?
    private let definitions: [String: WorldSchema]?
    private let constant: Bool?
    private let type: String?
    private let items: WorldSchema?
    private let properties: [String: WorldSchema]?
    /// The schema of fields whose names the file chooses; nil if it may choose none.
    private let others: WorldSchema?

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        reference = try container.decodeIfPresent(String.self, forKey: .reference)
        definitions = try container.decodeIfPresent([String: WorldSchema].self, forKey: .definitions)
        constant = try container.decodeIfPresent(Bool.self, forKey: .constant)
        type = try container.decodeIfPresent(String.self, forKey: .type)
        items = try container.decodeIfPresent(WorldSchema.self, forKey: .items)
        properties = try container.decodeIfPresent([String: WorldSchema].self, forKey: .properties)
        let isClosed = (try? container.decode(Bool.self, forKey: .others)) != nil
        others = isClosed ? nil : try container.decodeIfPresent(WorldSchema.self, forKey: .others)
    }

    /// The kind of the value; one of several choices, such as a name or a passkey, is text.
    var kind: Kind {
        let schema = resolved
        switch schema.type {
        case "boolean": return .boolean
        case "integer", "number": return .number
        case "array": return .list
        case "object": return .object
        default: return schema.constant == nil ? .text : .boolean
        }
    }

    /// Returns the schema of a field of an object; nil for an unknown field.
    func field(_ name: String) -> WorldSchema? { resolved.properties?[name] ?? resolved.others }

    /// The schema of the elements of a list.
    var element: WorldSchema? { resolved.items }

    private var resolved: WorldSchema {
        guard let name = reference?.split(separator: "/").last else { return self }
        return Self.file.definitions?[String(name)] ?? self
    }
}
#endif
