/// A line that a person types: its text, the cursor, and the lines before it.
///
/// Pure: keys go in, and what is to be done comes out.
struct LineEditor {
    /// What a key leads to.
    enum Outcome: Equatable {
        /// The line may look different now.
        case edited
        case accepted(String)
        /// Ctrl-C: the line is given up.
        case abandoned
        /// Ctrl-D on an empty line.
        case ended
        case completionWanted
        case screenCleared
    }

    private(set) var text: [Character] = []
    /// Before which character the cursor stands.
    private(set) var cursor = 0
    private let history: [String]
    /// Which line of the history is shown; its count stands for the new line.
    private var position: Int
    /// The new line, while an older one is shown.
    private var newLine: [Character] = []

    /// An empty line; the newest line of the history is the last.
    init(history: [String]) {
        self.history = history
        position = history.count
    }

    /// What stands before the cursor.
    var head: String { String(text[..<cursor]) }

    /// Takes a key.
    mutating func handle(_ key: Key) -> Outcome {
        switch key {
        case .enter: return .accepted(String(text))
        case .interrupt: return .abandoned
        case .endOfInput where text.isEmpty: return .ended
        case .tab: return .completionWanted
        case .clearScreen: return .screenCleared
        case .character(let character): insert(String(character))
        case .backspace: erase(max(0, cursor - 1)..<cursor)
        case .delete, .endOfInput: erase(cursor..<min(text.count, cursor + 1))
        case .eraseToEnd: erase(cursor..<text.count)
        case .eraseToStart: erase(0..<cursor)
        case .eraseWord: erase(wordStart..<cursor)
        case .left: cursor = max(0, cursor - 1)
        case .right: cursor = min(text.count, cursor + 1)
        case .home: cursor = 0
        case .end: cursor = text.count
        case .wordLeft: cursor = wordStart
        case .wordRight: cursor = wordEnd
        case .up: show(position - 1)
        case .down: show(position + 1)
        }
        return .edited
    }

    /// Puts text in place of the last `count` characters before the cursor.
    mutating func insert(_ string: String, replacing count: Int = 0) {
        erase(max(0, cursor - count)..<cursor)
        text.insert(contentsOf: Array(string), at: cursor)
        cursor += string.count
    }

    private mutating func erase(_ range: Range<Int>) {
        text.removeSubrange(range)
        cursor = range.lowerBound
    }

    private var wordStart: Int {
        let gap = text[..<cursor].lastIndex { $0 != " " } ?? 0
        return text[..<gap].lastIndex(of: " ").map { $0 + 1 } ?? 0
    }

    private var wordEnd: Int {
        guard let word = text[cursor...].firstIndex(where: { $0 != " " }) else { return text.count }
        return text[word...].firstIndex(of: " ") ?? text.count
    }

    private mutating func show(_ index: Int) {
        guard (0...history.count).contains(index), index != position else { return }
        if position == history.count { newLine = text }
        position = index
        text = index == history.count ? newLine : Array(history[index])
        cursor = text.count
    }

    /// The line on one row of a terminal, and the column of the cursor; a long line is shown around the cursor.
    func row(prompt: String, columns: Int) -> (text: String, column: Int) {
        let promptWidth = PrintableText.columns(prompt)
        let room = max(1, columns - promptWidth - 1)
        var start = 0
        while PrintableText.columns(String(text[start..<cursor])) > room { start += 1 }
        var end = start
        while end < text.count, PrintableText.columns(String(text[start...end])) <= room { end += 1 }
        let column = promptWidth + PrintableText.columns(String(text[start..<cursor]))
        return (prompt + PrintableText.of(String(text[start..<end])), column)
    }
}
