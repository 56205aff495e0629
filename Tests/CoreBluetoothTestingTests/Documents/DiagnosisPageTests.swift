import Foundation
import Testing

/// Checks that the sources print the lines that the page "Why does my device not appear, notify, or take a write"
/// quotes.
@Suite struct DiagnosisPageTests {
    /// Returns the quotes of the first cells, without marks of direction.
    private func quotes() throws -> [String] {
        let text = try String(
            contentsOf: try Repository.page("WhyDoesMyDeviceNot", of: "BluetoothEmulator"), encoding: .utf8)
        return text.split(separator: "\n").filter { $0.hasPrefix("| ") }.compactMap { line in
            let cell = line.dropFirst(2).prefix { $0 != "|" }
            guard let quote = cell.firstMatch(of: /`([^`]+)`/) else { return nil }
            return String(quote.1)
        }
    }

    /// Returns all texts of the sources, with literals that continue in the next line joined.
    private func literals() throws -> String {
        try Repository.swiftFiles(in: "Sources").map { try String(contentsOf: $0, encoding: .utf8) }
            .joined(separator: "\n").replacing(/"\s*\n\s*\+ "/, with: "").replacing(/\\\n\s*/, with: "")
            .replacing("\\\"", with: "\"")
    }

    /// Returns the parts of a quote that are the same in each such line: not numbers, identifiers, or the text that `…`
    /// replaces.
    private func fixedParts(_ quote: String) -> [String] {
        quote.replacing(/\b[0-9A-F]{4}\b|heartRate|services=|discovered:/, with: "…").split(separator: "…")
            .map { $0.trimmingCharacters(in: CharacterSet(charactersIn: " <>[]")) }.filter { $0.count > 3 }
    }

    @Test func eachQuotedLineIsPrinted() throws {
        let literals = try literals()
        let quotes = try quotes()
        #expect(quotes.count >= 25)
        for quote in quotes {
            let parts = fixedParts(quote)
            #expect(!parts.isEmpty, "\(quote)")
            for part in parts { #expect(literals.contains(part), "\(quote): \(part)") }
        }
    }
}
