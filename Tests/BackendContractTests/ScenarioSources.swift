import Foundation

/// The scenarios in the sources of this target.
enum ScenarioSources {
    /// Returns the number of scenarios in each file, by the file's name.
    static func counts() throws -> [String: Int] {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        var counts: [String: Int] = [:]
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) where path.hasSuffix(".swift") {
            let file = folder.appendingPathComponent(path)
            let text = try String(contentsOf: file, encoding: .utf8)
            let count = text.split(separator: "\n").count(where: { begins($0.drop { $0 == " " }) })
            if count > 0 { counts[file.deletingPathExtension().lastPathComponent] = count }
        }
        return counts
    }

    private static func begins(_ line: Substring) -> Bool {
        [".central(", ".peripheral(", "AsyncScenario("].contains { line == $0 || line.hasPrefix($0 + "\"") }
    }
}
