import Foundation

@testable import BluetoothEmulator

/// The tables of the page "World files", generated from the schema.
///
/// The page determines the sections and the order of a table's rows; all text of a row comes from the schema.
struct WorldFilesPage {
    /// The sections of the page that have a table, with their definitions in the schema (nil for the file itself) and a
    /// plural noun.
    static let sections: [String: (definition: String?, plural: String)] = [
        "The file": (nil, "files"),
        "A device": ("device", "devices"), "An advertising set": ("advertising", "advertising sets"),
        "The content of a packet": ("advertisingData", "packets"),
        "A service": ("service", "services"), "A characteristic": ("characteristic", "characteristics"),
        "A timer": ("timer", "timers"), "A descriptor": ("descriptor", "descriptors"),
        "A replay": ("replay", "replays"), "Pairing": ("pairing", "pairings"),
        "An L2CAP channel": ("channel", "L2CAP channels"), "A fault": ("fault", "faults"),
        "A step of the script": ("step", "steps"), "A host": ("host", "hosts"),
        "A preserved central manager": ("preservedCentral", "preserved central managers"),
        "A preserved peer": ("preservedPeer", "preserved peers"), "A preserved scan": ("scan", "preserved scans"),
        "A preserved peripheral manager": ("preservedPeripheral", "preserved peripheral managers"),
    ]

    private static let heading = "| Field | Value | Meaning |"

    /// A definition or a field of the schema.
    private final class Node: Decodable {
        let reference: String?
        let type: String?
        let choices: [String]?
        let constant: JSONValue?
        let standard: JSONValue?
        let minimum: Decimal?
        let maximum: Decimal?
        let maxItems: Int?
        let items: Node?
        let properties: [String: Node]?
        let required: [String]?
        let description: String?
        let definitions: [String: Node]?

        enum CodingKeys: String, CodingKey {
            case reference = "$ref", choices = "enum", constant = "const", standard = "default", definitions = "$defs"
            case type, minimum, maximum, maxItems, items, properties, required, description
        }
    }

    private let schema: Node

    init(schema file: URL) throws {
        schema = try JSONDecoder().decode(Node.self, from: Data(contentsOf: file))
    }

    /// Returns the page with new tables.
    func rewritten(_ page: String) -> String {
        var lines: [String] = []
        var section = ""
        var rows: [String] = []
        for line in page.components(separatedBy: "\n") {
            if line.hasPrefix("#") { section = String(line.drop { $0 == "#" || $0 == " " }) }
            if line.hasPrefix("|"), Self.sections[section] != nil {
                rows.append(line)
                continue
            }
            if !rows.isEmpty { lines += table(section, rows) }
            rows = []
            lines.append(line)
        }
        return lines.joined(separator: "\n")
    }

    private func table(_ section: String, _ rows: [String]) -> [String] {
        let definition = Self.sections[section]?.definition.flatMap { schema.definitions?[$0] } ?? schema
        let fields = definition.properties ?? [:]
        let known = rows.compactMap { $0.split(separator: "`").dropFirst().first.map(String.init) }
            .filter { fields[$0] != nil }
        let names = known + Set(fields.keys).subtracting(known).sorted()
        return [Self.heading, "|---|---|---|"]
            + names.compactMap { name in
                guard let field = fields[name] else { return nil }
                let requirement = definition.required?.contains(name) == true ? "; required" : ""
                let standard = field.standard.map { "; \(code($0)) by default" } ?? ""
                return "| `\(name)` | \(value(field) + requirement + standard) | \(field.description ?? "") |"
            }
    }

    /// Returns the description of a field's values.
    private func value(_ field: Node, isPlural: Bool = false) -> String {
        if let reference = field.reference { return noun(of: reference, isPlural) }
        if let constant = field.constant { return code(constant) }
        if let choices = field.choices { return choices.map { "`\($0)`" }.joined(separator: ", ") }
        switch field.type {
        case "boolean": return "`true` or `false`"
        case "integer", "number": return number(field)
        case "array":
            let count = field.maxItems.map { ", up to \(grouped(Decimal($0)))" } ?? ""
            return "list of \(field.items.map { value($0, isPlural: true) } ?? "values")\(count)"
        case "object": return "object"
        default: return isPlural ? "texts" : "text"
        }
    }

    private func noun(of reference: String, _ isPlural: Bool) -> String {
        let name = reference.split(separator: "/").last.map(String.init) ?? ""
        if let (title, section) = Self.sections.first(where: { $0.value.definition == name }) {
            return isPlural ? section.plural : title.prefix(1).lowercased() + title.dropFirst()
        }
        switch name {
        case "uuid": return isPlural ? "UUIDs" : "UUID"
        case "bytes": return isPlural ? "values of bytes" : "bytes"
        case "duration": return "time"
        case "passkey": return "six digits"
        default: return schema.definitions?[name].map { value($0) } ?? name
        }
    }

    private func code(_ value: JSONValue) -> String {
        switch value {
        case .bool(let value): "`\(value)`"
        case .integer(let value): grouped(Decimal(value))
        case .text(let value): "`\(value)`"
        default: "\(value)"
        }
    }

    private func number(_ field: Node) -> String {
        let kind = field.type ?? ""
        switch (field.minimum, field.maximum) {
        case (let least?, let most?) where most < Decimal(UInt32.max):
            return "\(kind), \(grouped(least)) to \(grouped(most))"
        case (let least?, _): return "\(kind), \(grouped(least)) or more"
        case (nil, _): return kind
        }
    }
}

/// Formats a number with commas between thousands.
private func grouped(_ number: Decimal) -> String {
    let text = "\(number)"
    guard number >= 1_000, let digits = Int(text).map({ Array("\($0)") }) else { return text }
    return digits.enumerated().map { index, digit in
        index > 0 && (digits.count - index).isMultiple(of: 3) ? ",\(digit)" : "\(digit)"
    }.joined()
}
