/// What the user may have meant.
enum Suggestion {
    /// `; did you mean "scan"?`, or nothing where no candidate is near.
    static func text(for word: String, among candidates: [String]) -> String {
        nearest(to: word, among: candidates).map { "; did you mean \"\($0)\"?" } ?? ""
    }

    /// The candidate that takes the fewest changes of letters, ignoring case, at most a third of the word's; else the one
    /// that begins with the word.
    static func nearest(to word: String, among candidates: [String]) -> String? {
        let letters = Array(word.lowercased())
        // What strangers or files hand in may be long; nobody mistypes that much.
        guard !letters.isEmpty, letters.count <= 64 else { return nil }
        let limit = max(1, letters.count / 3)
        let near = candidates.map { (changes(from: letters, to: Array($0.lowercased())), $0) }.min { $0.0 < $1.0 }
        if let near, near.0 <= limit { return near.1 }
        return letters.count < 2 ? nil : candidates.first { $0.lowercased().hasPrefix(word.lowercased()) }
    }

    /// How many insertions, deletions, replacements and swaps of neighbours make one word out of the other.
    static func changes(from first: [Character], to second: [Character]) -> Int {
        var rows = [Array(0...second.count)]
        for (row, letter) in first.enumerated() {
            var next = [row + 1]
            for (column, other) in second.enumerated() {
                let replaced = rows[row][column] + (letter == other ? 0 : 1)
                var best = min(replaced, rows[row][column + 1] + 1, next[column] + 1)
                if row > 0, column > 0, letter == second[column - 1], first[row - 1] == other {
                    best = min(best, rows[row - 1][column - 1] + 1)
                }
                next.append(best)
            }
            rows.append(next)
        }
        return rows[first.count][second.count]
    }
}
