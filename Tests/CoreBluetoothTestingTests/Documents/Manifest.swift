import Foundation

/// The targets of `Package.swift` whose sources are in `Sources`, with their dependencies on each other.
///
/// Read from the text of the manifest: the package manager, which could evaluate it, is busy while it runs tests.
struct Manifest {
    struct Edge: Hashable, Comparable, CustomStringConvertible {
        var from: String
        var to: String
        /// Whether a package trait or the platform enables the dependency.
        var isConditional: Bool

        var description: String { "\(from) \(isConditional ? "-.->" : "-->") \(to)" }

        static func < (left: Edge, right: Edge) -> Bool { left.description < right.description }
    }

    private(set) var targets: Set<String> = []
    private(set) var edges: Set<Edge> = []

    init(_ text: String) {
        // `swift format` puts each target on a line with this indentation; dependencies have a deeper one.
        let declarations = text.matches(of: /\n {8}\.(target|executableTarget|testTarget|systemLibrary)\(/)
        for (index, declaration) in declarations.enumerated() {
            let end = index + 1 < declarations.count ? declarations[index + 1].range.lowerBound : text.endIndex
            let kind = declaration.output.1
            let arguments = text[declaration.range.upperBound..<end]
            guard kind == "target" || kind == "executableTarget", arguments.contains("path: \"Sources/") else {
                continue
            }
            add(arguments)
        }
        // Modules of C are in `Modulemaps`.
        edges = edges.filter { targets.contains($0.to) }
    }

    private mutating func add(_ arguments: Substring) {
        guard let name = arguments.firstMatch(of: /name: "(\w+)"/)?.output.1 else { return }
        targets.insert(String(name))
        guard
            let list = arguments.firstMatch(of: /dependencies: \[(?s:(.*?))\],?\s+(?:path|resources|swiftSettings):/)?
                .output.1
        else {
            return
        }
        for match in list.matches(of: /\.target\(name: "(\w+)"(, condition:)?/) {
            edges.insert(Edge(from: String(name), to: String(match.1), isConditional: match.2 != nil))
        }
        // The remaining text in quotes is the name of a target.
        for match in list.replacing(/\.\w+\([^)]*\)/, with: "").matches(of: /"(\w+)"/) {
            edges.insert(Edge(from: String(name), to: String(match.1), isConditional: false))
        }
    }
}
