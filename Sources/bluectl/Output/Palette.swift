/// Colours for people, or none.
struct Palette: Sendable {
    /// Whether anything is coloured.
    let isEnabled: Bool

    /// Colours only on a terminal that has them, and never with `NO_COLOR` (no-color.org).
    init(isTerminal: Bool, environment: [String: String]) {
        let isRefused = environment["NO_COLOR"].map { !$0.isEmpty } ?? false
        isEnabled = isTerminal && !isRefused && environment["TERM"] != "dumb"
    }

    /// No colours.
    init() { isEnabled = false }

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
