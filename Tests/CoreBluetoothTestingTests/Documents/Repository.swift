import Foundation

/// The repository's files, for tests that compare documents with sources.
enum Repository {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../..")
        .standardizedFileURL

    /// Whether the environment requests that generated pages are written again.
    static var isRewriting: Bool { ProcessInfo.processInfo.environment["REWRITE_DOCUMENTS"] == "1" }

    static func file(_ path: String) -> URL { root.appendingPathComponent(path) }

    static func text(_ path: String) throws -> String { try String(contentsOf: file(path), encoding: .utf8) }

    static func page(_ name: String, of target: String = "CoreBluetooth") -> URL {
        file("Sources/\(target)/\(target).docc/\(name).md")
    }

    /// Returns the Swift files below a folder, in the order of their paths.
    static func swiftFiles(in folder: String) throws -> [URL] {
        let found = FileManager.default.enumerator(
            at: file(folder), includingPropertiesForKeys: nil, options: .skipsHiddenFiles)
        return (found?.compactMap { $0 as? URL } ?? []).filter { $0.pathExtension == "swift" }
            .sorted { $0.path < $1.path }
    }
}
