import Foundation

/// The types that a source file declares or extends, with the names of their members.
///
/// The scanner relies on the layout of `swift format`: a scope indents its members by four columns.
struct DeclarationScanner {
    /// The members by type.
    ///
    /// The name of a nested type is `Outer.Inner`; the name of a function contains its argument labels.
    private(set) var members: [String: Set<String>] = [:]
    private var scopes: [String] = []

    private static let types: Set<Substring> = ["class", "struct", "enum", "protocol", "actor", "extension"]
    private static let modifiers: Set<Substring> = [
        "public", "package", "open", "private", "fileprivate", "internal", "private(set)", "final", "indirect",
        "static",
        "class", "mutating", "nonmutating", "borrowing", "consuming", "nonisolated", "nonisolated(unsafe)", "override",
        "convenience", "required", "weak", "lazy",
    ]

    init(_ source: String) {
        let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            let indentation = line.utf8.prefix { $0 == UInt8(ascii: " ") }.count
            let text = line.dropFirst(indentation)
            if !scopes.isEmpty, indentation == 4 * (scopes.count - 1), text == "}" {
                scopes.removeLast()
            } else if indentation == 4 * scopes.count, !text.isEmpty, !text.hasPrefix("/") {
                declare(text, followedBy: lines[(index + 1)...].prefix(20))
            }
        }
    }

    private mutating func declare(_ line: Substring, followedBy rest: ArraySlice<Substring>) {
        var words = line.split(separator: " ")[...]
        while let word = words.first {
            let isAttribute = word.hasPrefix("@")
            // `class` is a type, unless it modifies a member.
            let isModifier = Self.modifiers.contains(word) && (word != "class" || words.dropFirst().first == "func")
            guard isAttribute || isModifier else { break }
            words.removeFirst()
        }
        guard let keyword = words.first, let next = words.dropFirst().first ?? words.first else { return }
        if Self.types.contains(keyword) { return open(Self.identifier(next, allowing: "."), line) }
        guard let type = scopes.last else { return }
        switch keyword {
        case "func": add(Self.signature(([line] + rest).joined(separator: " "), after: "func "), to: type)
        case "var", "let", "typealias", "associatedtype": add(Self.identifier(next), to: type)
        case "case":
            for name in Self.list(words.dropFirst().joined(separator: " ")[...]) {
                add(Self.identifier(name), to: type)
            }
        default:
            if keyword.hasPrefix("init") {
                add(Self.signature(([line] + rest).joined(separator: " "), after: ""), to: type)
            }
        }
    }

    private mutating func open(_ name: String, _ line: Substring) {
        let type = scopes.last.map { "\($0).\(name)" } ?? name
        members[type, default: []].formUnion([])
        if !line.hasSuffix("}") { scopes.append(type) }
    }

    private mutating func add(_ member: String, to type: String) { members[type, default: []].insert(member) }

    // MARK: Names

    private static func identifier(_ text: Substring, allowing extra: Character = "_") -> String {
        String(text.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == extra })
    }

    /// Returns the name of a function with its argument labels: `handle(_:at:)`.
    private static func signature(_ declaration: String, after keyword: String) -> String {
        let start = keyword.isEmpty ? declaration.range(of: "init") : declaration.range(of: keyword)
        guard let start else { return "" }
        let text = declaration[(keyword.isEmpty ? start.lowerBound : start.upperBound)...]
        guard let parenthesis = text.firstIndex(of: "(") else { return "" }
        let labels = list(text[parenthesis...].dropFirst()).map { "\(identifier($0)):" }
        return identifier(text) + "(" + labels.joined() + ")"
    }

    /// Splits a list at its commas, up to the bracket that closes it.
    private static func list(_ text: Substring) -> [Substring] {
        var elements: [Substring] = []
        var start = text.startIndex
        var depth = 0
        var previous: Character = " "
        var end = text.endIndex
        scan: for index in text.indices {
            let character = text[index]
            defer { previous = character }
            switch character {
            case "(", "[", "{", "<": depth += 1
            case ">" where previous == "-": break
            case ")", "]", "}", ">":
                depth -= 1
                guard depth < 0 else { continue }
                end = index
                break scan
            case "," where depth == 0:
                elements.append(text[start..<index])
                start = text.index(after: index)
            default: break
            }
        }
        elements.append(text[start..<end])
        return elements.map { $0.drop { $0 == " " } }.filter { !$0.isEmpty }
    }
}
