import Foundation

/// The lines of a file, or of standard input, with their places.
@MainActor
final class Script {
    private let name: String
    private var lines: [Substring] = []
    private let input: LineInput?
    private var number = 0

    /// Reads a file; `-` is standard input, of which each line is read when it is its turn.
    ///
    /// - Throws: A usage failure where the file cannot be read.
    init(path: String) throws(Failure) {
        guard path != "-" else {
            name = "standard input"
            input = LineInput()
            return
        }
        name = path
        input = nil
        do {
            lines = try String(contentsOfFile: path, encoding: .utf8).split(
                separator: "\n", omittingEmptySubsequences: false)
        } catch {
            throw Failure(
                .usage, "\(path): the script cannot be read: \((error as NSError).localizedDescription)")
        }
    }

    /// The next line, and where it stands; nil at the end.
    func next() async -> (line: String, place: String)? {
        number += 1
        let line: String?
        if let input {
            line = await input.next()
        } else {
            line = number <= lines.count ? String(lines[number - 1]) : nil
        }
        return line.map { ($0.hasSuffix("\r") ? String($0.dropLast()) : $0, "\(name):\(number)") }
    }
}
