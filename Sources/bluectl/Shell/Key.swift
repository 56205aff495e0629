/// A key of a terminal, or a piece of text that it sends.
enum Key: Equatable, Sendable {
    case character(Character)
    case enter, tab, backspace, delete
    case left, right, up, down, home, end, wordLeft, wordRight
    /// Ctrl-K, Ctrl-U, Ctrl-W, Ctrl-L.
    case eraseToEnd, eraseToStart, eraseWord, clearScreen
    /// Ctrl-C, Ctrl-D.
    case interrupt, endOfInput
}

/// Makes keys of the bytes of a terminal.
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

    /// The keys of the bytes so far; an unfinished character or sequence waits for more.
    mutating func keys(from bytes: some Sequence<UInt8>) -> [Key] {
        rest += bytes
        var keys: [Key] = []
        while let (key, length) = Self.first(of: rest) {
            rest.removeFirst(length)
            if let key { keys.append(key) }
        }
        return keys
    }

    /// The first key, nil for one that means nothing, and how many bytes it has; nil where it is not complete.
    private static func first(of bytes: [UInt8]) -> (key: Key?, length: Int)? {
        guard let first = bytes.first else { return nil }
        if first == 0x1B { return sequence(bytes) }
        if first < 0x20 || first == 0x7F { return (controls[first], 1) }
        let length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
        guard bytes.count >= length else { return nil }
        guard let character = String(validating: bytes.prefix(length), as: UTF8.self)?.first else { return (nil, 1) }
        return (.character(character), length)
    }

    /// What begins with Escape: a letter, or `[` or `O`, parameters, and a final byte.
    private static func sequence(_ bytes: [UInt8]) -> (key: Key?, length: Int)? {
        guard bytes.count > 1 else { return nil }
        guard bytes[1] == UInt8(ascii: "[") || bytes[1] == UInt8(ascii: "O") else {
            return (sequences[String(decoding: bytes[1...1], as: UTF8.self)], 2)
        }
        guard let final = bytes.dropFirst(2).firstIndex(where: { (0x40...0x7E).contains($0) }) else {
            // No key has a sequence this long.
            return bytes.count > 16 ? (nil, bytes.count) : nil
        }
        return (sequences[String(decoding: bytes[1...final], as: UTF8.self)], final + 1)
    }
}
