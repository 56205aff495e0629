import Foundation

/// A Mermaid flowchart of modules: nodes, and arrows that are dotted if a trait enables the dependency.
struct ModuleDiagram {
    private(set) var nodes: Set<String> = []
    private(set) var edges: Set<Manifest.Edge> = []
    /// The modules that a comment `%% Not drawn: …` omits.
    private(set) var undrawn: Set<String> = []
    /// The lines outside the notation that this page uses.
    private(set) var unknown: [Substring] = []

    init(_ text: Substring) {
        for line in text.split(separator: "\n").map({ $0.drop { $0 == " " } }) {
            if let match = line.wholeMatch(of: /%% Not drawn: (.*)/) {
                undrawn.formUnion(match.1.split(separator: ", ").map(String.init))
            } else if let match = line.wholeMatch(of: /(\w+) (-->|-\.->) (.*)/) {
                for target in match.3.split(separator: " & ") {
                    edges.insert(
                        Manifest.Edge(from: String(match.1), to: String(target), isConditional: match.2 == "-.->"))
                }
            } else if line.wholeMatch(of: /[A-Za-z]\w*/) != nil {
                if line != "end" { nodes.insert(String(line)) }
            } else if line.wholeMatch(of: /flowchart TB|subgraph \w+\["[^"]*"\]/) == nil {
                unknown.append(line)
            }
        }
    }
}

/// A Mermaid sequence diagram of calls: the participants are types in boxes for their modules, and actors are outside.
struct SequenceDiagram {
    struct Participant {
        var type: String
        var module: String
    }

    struct Message {
        /// The line of the diagram, for failures.
        var line: Substring
        /// The type that receives a call; nil if an actor receives it.
        var receiver: String?
        var text: String
        /// Whether it is a result: the name of a type, or of a type's member.
        var isResult: Bool
    }

    /// The participants by their names in the diagram.
    private(set) var participants: [String: Participant] = [:]
    private(set) var messages: [Message] = []
    /// The lines outside the notation that this page uses, or with a name that no line has introduced.
    private(set) var unknown: [Substring] = []
    private var actors: Set<String> = []

    /// The keywords, in any case, which Mermaid's lexer does not accept as the name of a participant.
    ///
    /// Source: `sequenceDiagram.jison` in https://github.com/mermaid-js/mermaid.
    private static let keywords: Set<String> = [
        "activate", "actor", "alt", "and", "autonumber", "box", "break", "create", "critical", "deactivate", "destroy",
        "details", "else", "end", "link", "links", "loop", "note", "off", "opt", "option", "over", "par", "participant",
        "properties", "rect", "title",
    ]

    init(_ text: Substring) {
        var module: String?
        for line in text.split(separator: "\n").map({ $0.drop { $0 == " " } }) {
            if let match = line.wholeMatch(of: /box transparent (\w+)/) {
                module = String(match.1)
            } else if line == "end" {
                module = nil
            } else if let match = line.wholeMatch(of: /participant (\w+)(?: as (\w+))?/), let module {
                add(line, Participant(type: String(match.2 ?? match.1), module: module), as: String(match.1))
            } else if let match = line.wholeMatch(of: /actor (\w+)(?: as .*)?/) {
                actors.insert(String(match.1))
            } else if let match = line.wholeMatch(of: /(\w+)(->>|-\)|-->>)(\w+): (.+)/) {
                add(line, from: String(match.1), String(match.2), to: String(match.3), String(match.4))
            } else if let match = line.wholeMatch(of: /Note over ([\w,]+): .*/) {
                if !match.1.split(separator: ",").allSatisfy({ isKnown(String($0)) }) { unknown.append(line) }
            } else if line.wholeMatch(of: /sequenceDiagram|(?:alt|else) .*/) == nil {
                unknown.append(line)
            }
        }
    }

    private func isKnown(_ name: String) -> Bool { participants[name] != nil || actors.contains(name) }

    private mutating func add(_ line: Substring, _ participant: Participant, as name: String) {
        guard !Self.keywords.contains(name.lowercased()) else { return unknown.append(line) }
        participants[name] = participant
    }

    private mutating func add(
        _ line: Substring, from sender: String, _ arrow: String, to receiver: String, _ text: String
    ) {
        guard isKnown(sender), isKnown(receiver) else { return unknown.append(line) }
        messages.append(
            Message(line: line, receiver: participants[receiver]?.type, text: text, isResult: arrow == "-->>"))
    }
}
