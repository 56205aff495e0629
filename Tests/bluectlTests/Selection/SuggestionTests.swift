import Testing

@testable import bluectl

struct SuggestionTests {
    @Test(arguments: [
        ("scna", "scan"), ("sacn", "scan"), ("raed", "read"), ("subscibe", "subscribe"), ("explor", "explore"),
        ("SCAN", "scan"), ("comp", "completions"),
    ])
    func aNearMissHasASuggestion(word: String, expected: String) {
        #expect(Suggestion.nearest(to: word, among: CommandNames(of: Bluectl.self).all) == expected)
    }

    @Test(arguments: ["", "nonsense", "x", String(repeating: "scan", count: 100)])
    func whatIsFarFromAllHasNone(word: String) {
        #expect(Suggestion.nearest(to: word, among: CommandNames(of: Bluectl.self).all) == nil)
        #expect(Suggestion.text(for: word, among: CommandNames(of: Bluectl.self).all) == "")
    }

    @Test func changesAreCounted() {
        #expect(Suggestion.changes(from: Array("scan"), to: Array("scan")) == 0)
        #expect(Suggestion.changes(from: Array("sacn"), to: Array("scan")) == 1)
        #expect(Suggestion.changes(from: Array(""), to: Array("scan")) == 4)
        #expect(Suggestion.changes(from: Array("kitten"), to: Array("sitting")) == 3)
    }
}
