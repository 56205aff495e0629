/// The words of a line, as a shell splits it.
enum ShellWords {
    /// Splits at spaces; quotes and `\` keep them, `#` at the beginning of a word begins a comment.
    ///
    /// - Throws: A usage failure for a quote that is not closed.
    static func split(_ line: String) throws(Failure) -> [String] {
        var splitter = Splitter()
        for character in line where !splitter.isComment { splitter.take(character) }
        guard splitter.quote == nil, !splitter.isEscaped else {
            throw Failure(.usage, "the line ends inside of a quotation")
        }
        return splitter.finish()
    }

    /// The complete words before the cursor, and the one that is being typed, without its quotes.
    static func typed(_ text: String) -> (words: [String], current: String) {
        var splitter = Splitter()
        for character in text where !splitter.isComment { splitter.take(character) }
        let current = splitter.isComment ? nil : splitter.word
        return (splitter.words, current ?? "")
    }

    /// A word as it is typed: in quotes where it needs them.
    static func quoted(_ word: String) -> String {
        let isPlain = !word.isEmpty && !word.hasPrefix("#") && !word.contains { " \t\"'\\".contains($0) }
        guard !isPlain else { return word }
        return "\"" + word.map { "\"\\".contains($0) ? "\\\($0)" : String($0) }.joined() + "\""
    }

    private struct Splitter {
        var words: [String] = []
        var word: String?
        var quote: Character?
        var isEscaped = false
        var isComment = false

        mutating func take(_ character: Character) {
            if isEscaped {
                isEscaped = false
                word = (word ?? "") + String(character)
            } else if character == "\\", quote != "'" {
                isEscaped = true
                word = word ?? ""
            } else if let open = quote {
                if character == open { quote = nil } else { word = (word ?? "") + String(character) }
            } else if character == "\"" || character == "'" {
                quote = character
                word = word ?? ""
            } else if character.isWhitespace {
                words += finishedWord
                word = nil
            } else if character == "#", word == nil {
                isComment = true
            } else {
                word = (word ?? "") + String(character)
            }
        }

        private var finishedWord: [String] { word.map { [$0] } ?? [] }

        func finish() -> [String] { words + finishedWord }
    }
}
