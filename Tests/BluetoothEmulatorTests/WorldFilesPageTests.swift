import BluetoothEmulator
import Foundation
import Testing

/// The tables of the page "World files" have the fields of the schema: neither fewer nor others.
@Suite struct WorldFilesPageTests {
    /// The sections of the page, and the definitions of the schema that they are about.
    private static let sections = [
        "The file": file,
        "A device": "device", "An advertising set": "advertising", "The content of a packet": "advertisingData",
        "A service": "service", "A characteristic": "characteristic", "A timer": "timer", "A descriptor": "descriptor",
        "A replay": "replay", "Pairing": "pairing", "An L2CAP channel": "channel",
        "A fault": "fault",
        "A step of the script": "step", "A host": "host",
        "A preserved central manager": "preservedCentral", "A preserved peer": "preservedPeer",
        "A preserved scan": "scan",
        "A preserved peripheral manager": "preservedPeripheral",
    ]

    /// The schema itself.
    private static let file = "$schema"

    private func schema() throws -> JSONSchema {
        try JSONSchema(
            contentsOf: URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
                "../../Schemas/world.schema.json"))
    }

    /// The first columns of the tables, by section.
    private func tables() throws -> [String: [String]] {
        var tables: [String: [String]] = [:]
        var section = ""
        for line in try Document("WorldFiles", of: "CoreBluetooth").text().split(separator: "\n") {
            if line.hasPrefix("#") { section = String(line.drop { $0 == "#" || $0 == " " }) }
            guard line.hasPrefix("| `"), let end = line.dropFirst(3).firstIndex(of: "`") else { continue }
            tables[section, default: []].append(String(line[line.index(line.startIndex, offsetBy: 3)..<end]))
        }
        return tables
    }

    @Test func eachTableHasTheFieldsOfItsDefinition() throws {
        let (schema, tables) = try (schema(), tables())
        #expect(Set(tables.keys) == Set(Self.sections.keys))
        for (section, definition) in Self.sections {
            let fields = tables[section] ?? []
            #expect(Set(fields) == schema.fields(definition == Self.file ? nil : definition), "\(section)")
            #expect(Set(fields).count == fields.count, "\(section) has a field twice")
        }
    }

    @Test func eachDefinitionWithFieldsHasATable() throws {
        let schema = try schema()
        let definitions = (schema.root["$defs"] as? [String: Any] ?? [:]).keys.filter { !schema.fields($0).isEmpty }
        #expect(Set(definitions + [Self.file]) == Set(Self.sections.values))
    }
}
