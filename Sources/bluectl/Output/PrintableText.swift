/// Text from a peer, made safe for a terminal and for one line.
enum PrintableText {
    /// `text` with a replacement character for each control or formatting character.
    static func of(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { result.append(isHarmless(scalar) ? scalar : "\u{FFFD}") }
        return String(result)
    }

    private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate: false
        default: true
        }
    }

    /// How many columns of a terminal `text` takes; East Asian wide characters and emoji count two.
    static func columns(_ text: String) -> Int {
        text.reduce(0) { $0 + columns($1) }
    }

    /// `text` cut to at most `columns`, with an ellipsis if something is missing, or filled with spaces.
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
