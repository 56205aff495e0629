import BluetoothBackend
import Foundation
import Testing

/// The vocabulary page names each command and each event.
struct VocabularyTests {
    private static let page = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Sources/Protocol/BluetoothBackend/BluetoothBackend.docc/Vocabulary.md")

    /// Returns a section of the page, from its heading to the next.
    private func section(_ heading: String) throws -> String {
        let text = try String(contentsOf: Self.page, encoding: .utf8)
        let sections = text.components(separatedBy: "\n## ")
        return try #require(sections.first { $0.hasPrefix(heading + "\n") }, "\(heading)")
    }

    @Test(arguments: [
        ("The central role: calls", CentralCommand.Kind.allCases.map(\.rawValue)),
        ("The central role: delegate methods", CentralEvent.Kind.allCases.map(\.rawValue)),
        ("The peripheral role: calls", PeripheralCommand.Kind.allCases.map(\.rawValue)),
        ("The peripheral role: delegate methods", PeripheralEvent.Kind.allCases.map(\.rawValue)),
        ("Pairing", PairingCommand.Kind.allCases.map(\.rawValue) + PairingEvent.Kind.allCases.map(\.rawValue)),
    ])
    func eachKindIsOnThePage(_ heading: String, _ kinds: [String]) throws {
        let text = try section(heading)
        for kind in kinds { #expect(text.contains("`\(kind)`"), "\(kind)") }
    }
}
