import Foundation
import Testing

/// The repository's files, for tests that compare documents with sources.
enum Repository {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../..")
        .standardizedFileURL

    /// Whether the environment requests that generated pages are written again.
    static var isRewriting: Bool { ProcessInfo.processInfo.environment["REWRITE_DOCUMENTS"] == "1" }

    static func file(_ path: String) -> URL { root.appendingPathComponent(path) }

    static func text(_ path: String) throws -> String { try String(contentsOf: file(path), encoding: .utf8) }

    /// Returns the folder of a module below one of the groups of `Sources`; nil if the package has no such module.
    static func sources(of module: String) throws -> String? {
        try FileManager.default.contentsOfDirectory(atPath: file("Sources").path).map { "Sources/\($0)/\(module)" }
            .first { FileManager.default.fileExists(atPath: file($0).path) }
    }

    static func page(_ name: String, of module: String = "CoreBluetooth") throws -> URL {
        file("\(try #require(try sources(of: module)))/\(module).docc/\(name).md")
    }

    /// Returns the Swift files below a folder, in the order of their paths.
    static func swiftFiles(in folder: String) throws -> [URL] {
        let found = FileManager.default.enumerator(
            at: file(folder), includingPropertiesForKeys: nil, options: .skipsHiddenFiles)
        return (found?.compactMap { $0 as? URL } ?? []).filter { $0.pathExtension == "swift" }
            .sorted { $0.path < $1.path }
    }
}
