import BluetoothSupport
import Foundation

/// A reader of lines that a person types, with history and completion.
@MainActor
final class LineReader {
    private let prompt: String
    private let input = StandardInput.shared
    private var decoder = KeyDecoder()
    private var waitingKeys: [Key] = []
    private var editor = LineEditor(history: [])
    private(set) var isEditing = false
    /// Returns the completions of a word, given the words before it and the word.
    private let completions: ([String], String) -> [String]

    init(prompt: String, completions: @escaping ([String], String) -> [String]) {
        self.prompt = prompt
        self.completions = completions
    }

    /// Returns the next line; nil at the end of the input.
    func next(history: [String]) async -> String? {
        editor = LineEditor(history: history)
        guard let mode = TerminalMode() else { return nil }
        defer { mode.restore() }
        isEditing = true
        defer { isEditing = false }
        draw()
        while let keys = await nextKeys() {
            waitingKeys = keys
            while !waitingKeys.isEmpty {
                switch editor.handle(waitingKeys.removeFirst()) {
                case .edited: break
                case .accepted(let line):
                    draw()
                    write("\r\n")
                    return line
                case .discarded:
                    write("^C\r\n")
                    editor = LineEditor(history: history)
                case .ended:
                    write("\r\n")
                    return nil
                case .completionWanted: complete()
                case .screenCleared: write("\u{1B}[2J\u{1B}[H")
                }
            }
            draw()
        }
        return nil
    }

    /// Writes a remark above the line that is being typed.
    func interject(_ text: String) {
        write("\r\u{1B}[K\(text)\r\n")
        draw()
    }

    /// Returns the next keys; keys that followed the end of the last line belong to the next one.
    private func nextKeys() async -> [Key]? {
        if !waitingKeys.isEmpty { return waitingKeys }
        guard let data = await input.next() else { return nil }
        return decoder.keys(from: data)
    }

    private func complete() {
        let (words, current) = ShellWords.typed(editor.head)
        let candidates = completions(words, current).filter { $0.lowercased().hasPrefix(current.lowercased()) }
        guard let first = candidates.first else { return write("\u{7}") }
        let common = candidates.reduce(first) { $0.commonPrefix(with: $1, options: .caseInsensitive) }
        let typed = Self.typedLength(of: current, in: editor.head)
        if candidates.count == 1 { return editor.insert(ShellWords.quoted(first) + " ", replacing: typed) }
        guard common.count > current.count else {
            draw()
            return write("\r\n" + candidates.map(PrintableText.of).joined(separator: "  ") + "\r\n")
        }
        // The quote stays open for the rest of the word.
        editor.insert(common.contains(" ") ? "\"" + common : common, replacing: typed)
    }

    /// Returns the length of the last word as it was typed, with its quotes.
    private static func typedLength(of current: String, in head: String) -> Int {
        (0...head.count).first { length in
            let (words, rest) = ShellWords.typed(String(head.dropLast(length)))
            return rest.isEmpty && (head.dropLast(length).last?.isWhitespace ?? true)
                && ShellWords.typed(head).words == words
        } ?? current.count
    }

    private func draw() {
        let columns = StandardStream.output.size?.columns ?? 80
        let row = editor.row(prompt: prompt, columns: columns)
        write("\r\(row.text)\u{1B}[K\r" + (row.column > 0 ? "\u{1B}[\(row.column)C" : ""))
    }

    private func write(_ text: String) {
        // If the terminal was closed, the end of the input reports it.
        _ = StandardStream.output.write(text)
    }
}

struct TerminalMode {
    private let original: termios

    /// Begins to deliver each key at once, without echo, until ``restore()``.
    ///
    /// - Returns: nil if standard input is not a terminal.
    init?() {
        var mode = termios()
        guard tcgetattr(STDIN_FILENO, &mode) == 0 else { return nil }
        original = mode
        mode.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG | IEXTEN)
        mode.c_iflag &= ~tcflag_t(IXON | ICRNL)
        guard tcsetattr(STDIN_FILENO, TCSADRAIN, &mode) == 0 else { return nil }
    }

    /// Restores the earlier mode.
    func restore() {
        var mode = original
        // If the terminal was closed, there is nothing to restore.
        _ = tcsetattr(STDIN_FILENO, TCSADRAIN, &mode)
    }
}

/// The lines of earlier shells: `$XDG_STATE_HOME/bluectl/history`, or below `~/.local/state`.
struct ShellHistory {
    static let limit = 500

    private(set) var lines: [String]
    private let file: URL?

    /// Reads the lines; without a file the history is empty.
    init() {
        let environment = ProcessInfo.processInfo.environment
        let state = environment["XDG_STATE_HOME"].flatMap { $0.hasPrefix("/") ? URL(fileURLWithPath: $0) : nil }
        let home = environment["HOME"].flatMap { $0.isEmpty ? nil : URL(fileURLWithPath: $0) }
        file = (state ?? home?.appendingPathComponent(".local/state"))?.appendingPathComponent("bluectl/history")
        let data = file.flatMap { FileManager.default.contents(atPath: $0.path) } ?? Data()
        lines = String(decoding: data, as: UTF8.self).split(separator: "\n").suffix(Self.limit).map { String($0) }
    }

    /// Adds a line, unless it is empty, begins with a space, or repeats the last one.
    mutating func add(_ line: String) {
        guard !line.isEmpty, !line.hasPrefix(" "), line != lines.last else { return }
        lines = (lines + [line]).suffix(Self.limit)
    }

    /// Writes the lines to a file that only this user can read.
    ///
    /// - Returns: The reason of a failure; nil on success.
    func save() -> String? {
        guard let file else { return nil }
        do {
            let folder = file.deletingLastPathComponent()
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            let text = lines.map { $0 + "\n" }.joined()
            try OutputFile.replace(file.path, with: Array(text.utf8))
            return nil
        } catch let error as OutputFileError {
            return error.description
        } catch {
            return "\(file.path): \(error.fileReason)"
        }
    }
}
