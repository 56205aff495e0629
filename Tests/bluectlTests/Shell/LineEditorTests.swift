import Testing

@testable import bluectl

struct LineEditorTests {
    /// Returns a line after some bytes of a terminal.
    private func editor(_ typed: String, history: [String] = []) -> LineEditor {
        var editor = LineEditor(history: history)
        var decoder = KeyDecoder()
        for key in decoder.keys(from: Array(typed.utf8)) { _ = editor.handle(key) }
        return editor
    }

    private func text(_ typed: String, history: [String] = []) -> String {
        String(editor(typed, history: history).text)
    }

    @Test(arguments: [
        ("scan", "scan"), ("scn\u{1B}[Da", "scan"), ("can\u{1}s", "scan"), ("scanx\u{7F}", "scan"),
        ("xscan\u{1B}[H\u{1B}[3~", "scan"), ("scan now\u{17}", "scan "), ("a b\u{1B}[1;5Dc", "a cb"),
        ("abc\u{2}\u{2}\u{B}", "a"), ("abc\u{2}\u{15}", "c"), ("hé\u{7F}e", "he"), ("a\u{1B}b\u{1B}fb", "ab"),
        ("日本\u{1B}[Dx", "日x本"), ("\u{7F}\u{1B}[D\u{1B}[C\u{4}", ""), ("ab\u{1}\u{4}", "b"), ("\u{1B}[99~a", "a"),
    ])
    func keysEditTheLine(typed: String, expected: String) {
        #expect(text(typed) == expected)
    }

    @Test(arguments: [
        ("\u{1B}[A", "two"), ("\u{1B}[A\u{1B}[A", "one"), ("\u{1B}[A\u{1B}[A\u{1B}[A", "one"),
        ("new\u{10}\u{E}", "new"), ("\u{1B}OA!", "two!"), ("\u{E}", ""),
    ])
    func arrowsFindEarlierLinesAndComeBack(typed: String, expected: String) {
        #expect(text(typed, history: ["one", "two"]) == expected)
    }

    @Test func someKeysAreForTheReader() {
        var editor = editor("scan")
        #expect(editor.handle(.enter) == .accepted("scan"))
        #expect(editor.handle(.interrupt) == .discarded)
        #expect(editor.handle(.tab) == .completionWanted)
        #expect(editor.handle(.clearScreen) == .screenCleared)
        #expect(editor.handle(.endOfInput) == .edited)
        var empty = LineEditor(history: [])
        #expect(empty.handle(.endOfInput) == .ended)
    }

    @Test func aLongLineIsShownAroundTheCursor() {
        let editor = editor(String(repeating: "x", count: 50) + "end")
        let row = editor.row(prompt: "> ", columns: 20)
        #expect(row.text == "> " + String(repeating: "x", count: 14) + "end")
        #expect(row.column == 19)
        #expect(self.editor("a\u{1B}[D").row(prompt: "> ", columns: 20) == ("> a", 2))
        #expect(self.editor("日本").row(prompt: "", columns: 80).column == 4)
    }

    @Test func bytesOfOneKeyMayComeInPieces() {
        var decoder = KeyDecoder()
        #expect(decoder.keys(from: [0x1B]).isEmpty)
        #expect(decoder.keys(from: [0x5B]).isEmpty)
        #expect(decoder.keys(from: [0x41, 0xC3]) == [.up])
        #expect(decoder.keys(from: [0xA4]) == [.character("ä")])
        #expect(decoder.keys(from: [0xFF, 0x61]).isEmpty)
        #expect(
            decoder.keys(from: [0x62, 0x63, 0x64]) == [
                .character("a"), .character("b"), .character("c"), .character("d"),
            ])
    }

    @Test func randomBytesNeverTrap() {
        var state: UInt64 = 6
        var editor = LineEditor(history: ["one two", ""])
        var decoder = KeyDecoder()
        for _ in 0..<2000 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let byte = UInt8(truncatingIfNeeded: state >> 33)
            for key in decoder.keys(from: [byte]) { _ = editor.handle(key) }
            let row = editor.row(prompt: "> ", columns: 12)
            #expect(row.column < 14)
        }
    }
}

struct ShellWordsTests {
    @Test(arguments: [
        ("read Echo 2A19", ["read", "Echo", "2A19"]), ("  a   b ", ["a", "b"]), ("", []), ("# all", []),
        ("a # rest", ["a"]), ("2A37#2", ["2A37#2"]), ("'a b' \"c d\"e", ["a b", "c de"]),
        (#"a\ b "\"" '\'"#, ["a b", "\"", "\\"]),
        ("\"\"", [""]),
    ])
    func linesAreSplit(line: String, words: [String]) throws {
        #expect(try ShellWords.split(line) == words)
        #expect(try ShellWords.split(words.map(ShellWords.quoted).joined(separator: " ")) == words)
    }

    @Test(arguments: ["\"a", "'a", "a\\"])
    func aQuotationHasToEnd(line: String) {
        #expect(throws: Failure(.usage, "a quotation mark is not closed")) { try ShellWords.split(line) }
    }

    @Test func theWordThatIsTypedIsDistinguished() {
        #expect(ShellWords.typed("read \"Heart R") == (["read"], "Heart R"))
        #expect(ShellWords.typed("read ") == (["read"], ""))
        #expect(ShellWords.typed("re") == ([], "re"))
    }
}

struct ShellCompletionTests {
    private let completion = ShellCompletion(
        devices: ["Heart Rate Monitor", "C0:DE:00:00:18:0D"], attributes: ["Battery Level", "2A19"])

    @Test(arguments: [
        ([], "sub", ["sub", "subscribe"]), ([], "conn", ["connect"]), (["help"], "wri", ["write"]),
        (["read"], "heart", ["Heart Rate Monitor"]), (["read", "Echo"], "b", ["Battery Level"]),
        (["read", "--json", "Echo"], "2", ["2A19"]), (["write"], "--without", ["--without-response"]),
        (["watch", "Echo"], "batt", ["battery"]), (["serve", "--profile"], "nordic", ["nordic-uart"]),
        (["info", "Echo"], "b", []), (["nonsense"], "", []),
    ])
    func wordsAreCompleted(words: [String], word: String, expected: [String]) {
        #expect(completion.candidates(after: words, word: word) == expected)
    }
}
