import BluetoothProfiles
import BluetoothSupport
import Foundation

/// Text from a peer, made safe for a terminal and for one line.
enum PrintableText {
    /// Returns `text` with a replacement character for each control or formatting character.
    static func of(_ text: String) -> String {
        text.escaping { _ in "\u{FFFD}" }
    }

    /// Returns the number of terminal columns of `text`; East Asian wide characters and emoji take two.
    static func columns(_ text: String) -> Int {
        text.reduce(0) { $0 + columns($1) }
    }

    /// Returns `text` cut to at most `columns`, with an ellipsis if part of it is missing, or filled with spaces.
    static func fitted(_ text: String, to columns: Int) -> String {
        let width = self.columns(text)
        guard width > columns else { return text + String(repeating: " ", count: columns - width) }
        var result = ""
        var used = 0
        for character in text {
            let next = self.columns(character)
            guard used + next < columns else { break }
            result.append(character)
            used += next
        }
        return result + "…" + String(repeating: " ", count: max(0, columns - used - 1))
    }

    /// Returns `text` as lines of at most `limit` columns, which end after a space that is in their second half.
    static func wrapped(_ text: String, to limit: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        for character in text {
            if columns(line) + columns(character) > limit {
                let end = line.lastIndex(of: " ").map { line.index(after: $0) }
                let kept = end.map { String(line[..<$0]) } ?? ""
                let isLate = columns(kept) > limit / 2
                lines.append(isLate ? kept : line)
                line = isLate ? String(line.dropFirst(kept.count)) : ""
            }
            line.append(character)
        }
        return lines + [line]
    }

    private static func columns(_ character: Character) -> Int {
        guard let scalar = character.unicodeScalars.first else { return 0 }
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
            0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
            return 2
        default:
            return scalar.properties.generalCategory == .nonspacingMark ? 0 : 1
        }
    }
}

/// The colors of text for people, or none.
struct Palette: Sendable {
    let isEnabled: Bool

    /// Creates a palette, with colors only on a terminal that has them, and never with `NO_COLOR` (no-color.org).
    init(isTerminal: Bool, environment: [String: String]) {
        let isRefused = environment["NO_COLOR"].map { !$0.isEmpty } ?? false
        isEnabled = isTerminal && !isRefused && environment["TERM"] != "dumb"
    }

    func strong(_ text: String) -> String { wrap(text, "1") }
    func dim(_ text: String) -> String { wrap(text, "2") }
    func value(_ text: String) -> String { wrap(text, "36") }
    func good(_ text: String) -> String { wrap(text, "32") }
    func caution(_ text: String) -> String { wrap(text, "33") }
    func bad(_ text: String) -> String { wrap(text, "31") }

    private func wrap(_ text: String, _ code: String) -> String {
        isEnabled ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}

enum HexText {
    /// Reads digits in pairs, either letter case, with an optional `0x` in front; spaces, `:`, `-`, `_`, `.` and `,`
    /// may separate bytes.
    ///
    /// - Throws: A usage failure that describes the mistake.
    static func data(_ text: String) throws(Failure) -> Data {
        let digits = text.hasPrefix("0x") || text.hasPrefix("0X") ? text.dropFirst(2) : text[...]
        var bytes = Data()
        var high: UInt8?
        for character in digits {
            if let digit = character.hexDigitValue, character.isASCII {
                if let first = high {
                    bytes.append(first << 4 | UInt8(digit))
                    high = nil
                } else {
                    high = UInt8(digit)
                }
            } else if " :-_.,".contains(character) {
                guard high == nil else { throw incomplete(text) }
            } else {
                let shown = PrintableText.of(text)
                throw Failure(.usage, "\"\(shown)\" is not hexadecimal: use digits 0-9 and A-F, or --text")
            }
        }
        guard high == nil else { throw incomplete(text) }
        return bytes
    }

    /// Returns upper-case digits without separators.
    static func of(_ data: Data) -> String {
        data.map { Decimals.hex($0, width: 2) }.joined()
    }

    private static func incomplete(_ text: String) -> Failure {
        Failure(.usage, "\"\(PrintableText.of(text))\" has an odd number of digits: each byte needs two")
    }
}
