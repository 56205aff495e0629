/// A line that a person types: its text, the cursor, and the earlier lines.
///
/// A pure value: each key has an `Outcome`.
struct LineEditor {
    enum Outcome: Equatable {
        /// The line may have changed.
        case edited
        case accepted(String)
        /// Ctrl-C: the line is discarded.
        case discarded
        /// Ctrl-D on an empty line.
        case ended
        case completionWanted
        case screenCleared
    }

    private(set) var text: [Character] = []
    /// The index of the character after the cursor.
    private(set) var cursor = 0
    private let history: [String]
    /// The index of the history line that is shown; the count of the history means the new line.
    private var position: Int
    /// The new line, while an older one is shown.
    private var newLine: [Character] = []

    /// Creates an empty line; the last line of the history is the newest.
    init(history: [String]) {
        self.history = history
        position = history.count
    }

    var head: String { String(text[..<cursor]) }

    mutating func handle(_ key: Key) -> Outcome {
        switch key {
        case .enter: return .accepted(String(text))
        case .interrupt: return .discarded
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

    /// Returns the line on one row of a terminal, and the column of the cursor; a long line is cut to the part around
    /// the cursor.
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

/// A key of a terminal, or a piece of text that it sends.
enum Key: Equatable, Sendable {
    case character(Character)
    case enter, tab, backspace, delete
    case left, right, up, down, home, end, wordLeft, wordRight
    /// The keys Ctrl-K, Ctrl-U, Ctrl-W, Ctrl-L.
    case eraseToEnd, eraseToStart, eraseWord, clearScreen
    /// The keys Ctrl-C, Ctrl-D.
    case interrupt, endOfInput
}

/// A decoder of a terminal's bytes to keys.
///
/// Source: ECMA-48; xterm, "Control Sequences", PC-Style Function Keys.
struct KeyDecoder {
    private var rest: [UInt8] = []

    private static let controls: [UInt8: Key] = [
        0x01: .home, 0x02: .left, 0x03: .interrupt, 0x04: .endOfInput, 0x05: .end, 0x06: .right, 0x08: .backspace,
        0x09: .tab, 0x0A: .enter, 0x0B: .eraseToEnd, 0x0C: .clearScreen, 0x0D: .enter, 0x0E: .down, 0x10: .up,
        0x15: .eraseToStart, 0x17: .eraseWord, 0x7F: .backspace,
    ]

    private static let sequences: [String: Key] = [
        "[A": .up, "[B": .down, "[C": .right, "[D": .left, "[H": .home, "[F": .end, "OA": .up, "OB": .down,
        "OC": .right, "OD": .left, "OH": .home, "OF": .end, "[1~": .home, "[3~": .delete, "[4~": .end, "[7~": .home,
        "[8~": .end, "[1;5C": .wordRight, "[1;5D": .wordLeft, "[1;3C": .wordRight, "[1;3D": .wordLeft, "b": .wordLeft,
        "f": .wordRight,
    ]

    /// Returns the keys of the bytes so far; an unfinished character or sequence waits for more.
    mutating func keys(from bytes: some Sequence<UInt8>) -> [Key] {
        rest += bytes
        var keys: [Key] = []
        while let (key, length) = Self.first(of: rest) {
            rest.removeFirst(length)
            if let key { keys.append(key) }
        }
        return keys
    }

    /// Returns the first key (nil if it has no meaning) and the number of its bytes; nil if it is not complete.
    private static func first(of bytes: [UInt8]) -> (key: Key?, length: Int)? {
        guard let first = bytes.first else { return nil }
        if first == 0x1B { return sequence(bytes) }
        if first < 0x20 || first == 0x7F { return (controls[first], 1) }
        let length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
        guard bytes.count >= length else { return nil }
        guard let character = String(validating: bytes.prefix(length), as: UTF8.self)?.first else { return (nil, 1) }
        return (.character(character), length)
    }

    /// Decodes a sequence that begins with Escape: a letter, or `[` or `O`, parameters, and a final byte.
    private static func sequence(_ bytes: [UInt8]) -> (key: Key?, length: Int)? {
        guard bytes.count > 1 else { return nil }
        guard bytes[1] == UInt8(ascii: "[") || bytes[1] == UInt8(ascii: "O") else {
            return (sequences[String(decoding: bytes[1...1], as: UTF8.self)], 2)
        }
        guard let final = bytes.dropFirst(2).firstIndex(where: { (0x40...0x7E).contains($0) }) else {
            // No key has a sequence of this length.
            return bytes.count > 16 ? (nil, bytes.count) : nil
        }
        return (sequences[String(decoding: bytes[1...final], as: UTF8.self)], final + 1)
    }
}
