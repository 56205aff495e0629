import Foundation
import Testing

/// Checks that the page "Architecture" names modules, dependencies, types and functions that exist.
@Suite struct ArchitecturePageTests {
    /// The members of each type, by module.
    private typealias Declarations = [String: [String: Set<String>]]

    private static let declarations = Result { () throws -> Declarations in
        var modules: Declarations = [:]
        for module in Manifest(try Repository.text("Package.swift")).targets {
            for file in try Repository.sources(of: module).map(Repository.swiftFiles(in:)) ?? [] {
                let scanner = DeclarationScanner(try String(contentsOf: file, encoding: .utf8))
                modules[module, default: [:]].merge(scanner.members) { $0.union($1) }
            }
        }
        return modules
    }

    private let page: String
    private let manifest: Manifest
    private let modules: Declarations
    private let types: [String: Set<String>]

    init() throws {
        page = try Repository.text("Documentation/Architecture.md")
        manifest = Manifest(try Repository.text("Package.swift"))
        modules = try Self.declarations.get()
        types = modules.values.reduce(into: [:]) { $0.merge($1) { $0.union($1) } }
    }

    private func diagrams(_ kind: String) -> [Substring] {
        page.matches(of: #/```mermaid\n((?s:.*?))```/#).map(\.output.1).filter { $0.hasPrefix(kind) }
    }

    /// Whether a name is that of a type, or of a member of a type.
    private func isDeclared(_ name: String) -> Bool {
        if types[name] != nil { return true }
        guard let match = name.wholeMatch(of: /([\w.]+)\.(\w+(?:\(.*\))?)/) else { return false }
        return types[String(match.output.1)]?.contains(String(match.output.2)) == true
    }

    // MARK: Modules

    @Test func thePictureHasEveryDependencyOfTheManifestAndNoOther() throws {
        let diagram = ModuleDiagram(try #require(diagrams("flowchart").first))
        #expect(diagram.unknown.isEmpty)
        #expect(manifest.targets.count >= 10)
        #expect(diagram.undrawn.isSubset(of: manifest.targets))
        #expect(diagram.nodes == manifest.targets.subtracting(diagram.undrawn))
        let edges = manifest.edges.filter { !diagram.undrawn.contains($0.to) }
        #expect(edges.subtracting(diagram.edges).sorted() == [], "missing in the picture")
        #expect(diagram.edges.subtracting(edges).sorted() == [], "not in Package.swift")
    }

    @Test func theTableOfModulesIsComplete() throws {
        let table = try #require(page.firstMatch(of: /\| Folder \| Module \| Contents \|((?s:.*?))\n\n/)).output.1
        let names = table.matches(of: /\n\| (?:`[\w\/]+` )?\| `(\w+)` \| \S/).map { String($0.output.1) }
        #expect(names.count == manifest.targets.count)
        #expect(Set(names) == manifest.targets)
    }

    // MARK: Functions

    @Test func theDiagramsCallFunctionsThatExist() {
        let sequences = diagrams("sequenceDiagram").map(SequenceDiagram.init)
        #expect(sequences.count >= 4)
        for diagram in sequences {
            #expect(diagram.unknown.isEmpty)
            #expect(diagram.messages.count >= 5)
            for participant in diagram.participants.values {
                let isThere = modules[participant.module]?[participant.type] != nil
                #expect(isThere, "\(participant.module) does not declare \(participant.type)")
            }
            for message in diagram.messages {
                guard let receiver = message.receiver else { continue }
                let exists =
                    message.isResult ? isDeclared(message.text) : types[receiver]?.contains(message.text) == true
                #expect(exists, "no declaration for: \(message.line)")
            }
        }
    }

    // MARK: Names in prose

    @Test func theProseNamesTypesThatExist() throws {
        let prose = page.replacing(#/```(?s:.*?)```/#, with: "")
        let names = prose.matches(of: /`([A-Z][\w.]*(?:\([\w:]*\))?)`/).map { String($0.output.1) }
        #expect(names.count >= 30)
        let others: Set<String> = ["ArchitecturePageTests", "Codable", "Hashable", "Package.swift", "Sendable"]
        for name in names where !manifest.targets.contains(name) && !others.contains(name) {
            #expect(isDeclared(name), "no declaration for: \(name)")
        }
    }

    @Test func theGlossaryNamesTypesThatExist() throws {
        let text = try Repository.text("CONTRIBUTING.md")
        let glossary = try #require(text.firstMatch(of: /\n## Glossary\n((?s:.*?))\n##\s/)).output.1
        let names = glossary.matches(of: /`([A-Z][\w.]*)`/).map { String($0.output.1) }
        #expect(names.count >= 20)
        for name in names { #expect(isDeclared(name), "no declaration for: \(name)") }
    }
}
