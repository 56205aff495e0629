import BluetoothSupport
import Foundation
import LogCapture
import Logging
import Testing

/// Foreign text in logs, traces and files.
struct PrintableTests {
    /// Control characters of both sets, line and paragraph separators, changes of direction, characters without a width, and a
    /// tag beyond the Basic Multilingual Plane.
    static let unprintable: [Unicode.Scalar] = [
        "\0", "\u{07}", "\n", "\r", "\u{1B}", "\u{7F}", "\u{85}", "\u{9B}", "\u{2028}", "\u{2029}", "\u{202E}",
        "\u{2066}",
        "\u{2069}", "\u{200B}", "\u{200D}", "\u{FEFF}", "\u{E000}", "\u{E0041}",
    ]

    @Test(arguments: unprintable)
    func aCharacterThatIsNotPrintableIsEscaped(scalar: Unicode.Scalar) throws {
        let text = "a\(scalar)b"
        for safe in [text.printable, text.quoted, String(decoding: try json(text), as: UTF8.self)] {
            #expect(safe.unicodeScalars.allSatisfy { $0.isPrintable })
        }
        #expect(try JSONDecoder().decode([String].self, from: json(text)) == [text])
    }

    @Test(arguments: ["", "Heart Rate", "心拍計 ❤️ é", "a\\b \"c\""])
    func ordinaryTextStaysAsItIs(text: String) throws {
        #expect(text.printable == text)
        #expect(text.quoted == text.debugDescription)
        #expect(try json(text) == JSONEncoder().encode([text]))
    }

    @Test func lineBreaksBetweenTheValuesOfJSONStay() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .prettyPrinted
        let data = try encoder.encode(["é\u{9B}"]).printableJSON
        #expect(String(decoding: data, as: UTF8.self) == "[\n  \"é\\u009b\"\n]")
    }

    @Test func noTextOfALogLineAndNoMetadataBeginsAnotherLineOrCommandsATerminal() throws {
        LogCapture.start()
        Logger(label: "forged").line(
            .warning, "name\n2026 error\u{1B}[2J\u{9B}\u{202E}", metadata: ["category": "a\nb\u{1B}"])
        let text = #"name\n2026 error\u{1B}[2J\u{009B}\u{202E}"#
        #expect(LogCapture.lines(containing: "2026 error") == ["forged warning \(text)"])
        #expect(LogCapture.categories(containing: "2026 error") == [#"a\nb\u{1B}"#])
    }

    private func json(_ text: String) throws -> Data { try JSONEncoder().encode([text]).printableJSON }
}
