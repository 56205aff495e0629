import BluetoothEmulator
import Foundation
import Testing

/// The page "World files" agrees with the schema.
@Suite struct WorldFilesPageTests {
    private static let schema = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
        "../../Schemas/world.schema.json")

    /// Compares the tables with the schema; `REWRITE_DOCUMENTS=1` writes the tables instead.
    @Test func theTablesAreGeneratedFromTheSchema() throws {
        let page = Document("WorldFiles", of: "CoreBluetooth", in: "API")
        let generated = try WorldFilesPage(schema: Self.schema).rewritten(page.text())
        if Document.isRewriting { try generated.write(to: page.file, atomically: true, encoding: .utf8) }
        #expect(try page.text() == generated, "write them again with REWRITE_DOCUMENTS=1")
    }

    @Test func eachDefinitionWithFieldsHasOneTable() throws {
        let page = try Document("WorldFiles", of: "CoreBluetooth", in: "API").text()
        let sections = page.components(separatedBy: "\n#").filter { $0.contains("\n| Field |") }
            .map { String(($0.split(separator: "\n").first ?? "").drop { $0 == "#" || $0 == " " }) }
        #expect(sections.sorted() == WorldFilesPage.sections.keys.sorted())
        let schema = try JSONSchema(contentsOf: Self.schema)
        let definitions = (schema.root["$defs"] as? [String: Any] ?? [:]).keys.filter { !schema.fields($0).isEmpty }
        #expect(definitions.sorted() == WorldFilesPage.sections.values.compactMap(\.definition).sorted())
    }

    @Test func eachFieldOfTheSchemaHasAMeaning() throws {
        let page = try Document("WorldFiles", of: "CoreBluetooth", in: "API").text()
        #expect(!page.split(separator: "\n").contains { $0.hasPrefix("| `") && $0.hasSuffix("|  |") })
    }
}
