import Foundation

/// The lines of earlier shells: `$XDG_STATE_HOME/bluectl/history`, or below `~/.local/state`.
struct ShellHistory {
    /// How many lines are kept.
    static let limit = 500

    private(set) var lines: [String]
    private let file: URL?

    /// Reads the lines; none where there is no file yet.
    init(environment: [String: String] = ProcessInfo.processInfo.environment) {
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

    /// Writes the lines, for this user alone.
    ///
    /// - Returns: Why it could not be done.
    func save() -> String? {
        guard let file else { return nil }
        do {
            let folder = file.deletingLastPathComponent()
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            let text = lines.map { $0 + "\n" }.joined()
            try Data(text.utf8).write(to: file, options: .atomic)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
            return nil
        } catch {
            return "\(file.path): \((error as NSError).localizedDescription)"
        }
    }
}
