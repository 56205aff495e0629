import ArgumentParser
import Foundation
import Testing

@testable import bluectl

/// Checks that the documents give the version and the address of the package in one place.
struct VersionTests {
    private static let root = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../..").standardizedFileURL

    private static func text(_ file: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(file), encoding: .utf8)
    }

    @Test func theReadmeHasTheVersionOfTheToolAndSaysHowToDependOnIt() throws {
        let version = Bluectl.configuration.version
        let sections = try Self.text("README.md").components(separatedBy: "\n## ")
        let section = try #require(sections.first { $0.hasPrefix("Quick start\n") })
        #expect(section.contains("The version is \(version)."))
        #expect(section.contains(".package(url: \"REPOSITORY\", exact: \"\(version)\")"))
        for other in sections where other != section { #expect(!other.contains(version)) }
    }

    @Test func noPageRepeatsTheVersion() throws {
        let version = Bluectl.configuration.version
        let folders = ["Sources", "Documentation", "Examples", "Migration"]
        for folder in folders {
            let files = FileManager.default.enumerator(atPath: Self.root.appendingPathComponent(folder).path)
            while let file = files?.nextObject() as? String {
                if file.hasSuffix(".build") { files?.skipDescendants() }
                guard file.hasSuffix(".md") else { continue }
                #expect(try !Self.text("\(folder)/\(file)").contains("exact: \"\(version)\""), "\(file)")
            }
        }
    }
}
