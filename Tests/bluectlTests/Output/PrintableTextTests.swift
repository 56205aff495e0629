import Testing

@testable import bluectl

struct PrintableTextTests {
    @Test func controlCharactersOfAPeerDoNotReachTheTerminal() {
        #expect(PrintableText.of("a\u{1B}[2Jb\nc\u{202E}") == "a\u{FFFD}[2Jb\u{FFFD}c\u{FFFD}")
        #expect(PrintableText.of("Ünïcode 心") == "Ünïcode 心")
    }

    @Test func columnsCountWideCharactersTwice() {
        #expect(PrintableText.columns("abc") == 3)
        #expect(PrintableText.columns("心率") == 4)
        #expect(PrintableText.columns("e\u{301}") == 1)
    }

    @Test(arguments: [("abc", 5, "abc  "), ("abcdef", 4, "abc…"), ("心率計", 4, "心… "), ("abc", 3, "abc")])
    func textIsFittedToColumns(text: String, columns: Int, expected: String) {
        #expect(PrintableText.fitted(text, to: columns) == expected)
        #expect(PrintableText.columns(PrintableText.fitted(text, to: columns)) == columns)
    }

    @Test func linesEndAfterASpaceThatIsInTheirSecondHalf() {
        #expect(PrintableText.wrapped("one two three", to: 9) == ["one two ", "three"])
        #expect(PrintableText.wrapped("a 0102030405", to: 8) == ["a 010203", "0405"])
        #expect(PrintableText.wrapped("", to: 8) == [""])
    }
}
