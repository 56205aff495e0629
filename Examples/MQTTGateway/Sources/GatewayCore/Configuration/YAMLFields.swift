import Foundation
import Yams

/// The fields of a mapping in a YAML file; errors name the file, the line and the field.
struct YAMLFields {
    private let nodes: [String: Node]
    private let file: String
    /// The path of the mapping: `devices[0]`, or empty at the top.
    private let path: String
    private let mark: Mark?

    /// Reads the fields at the top of a text.
    ///
    /// - Throws: ``ConfigurationError``, also for a field that is not one of `known`.
    init(yaml: String, file: String, known: Set<String>) throws {
        let node: Node?
        do {
            // Without rules for the types of values: they are regular expressions, for which Foundation loads ICU.
            node = try Yams.compose(yaml: yaml, .basic)
        } catch let error as YamlError {
            throw ConfigurationError(
                description: "\(file): \("\(error)".split(separator: "\n").joined(separator: " "))")
        }
        guard let node else { throw ConfigurationError(description: "\(file): the file is empty") }
        try self.init(node, file: file, path: "", known: known)
    }

    private init(_ node: Node, file: String, path: String, known: Set<String>) throws {
        self.file = file
        self.path = path
        mark = node.mark
        guard case .mapping(let mapping) = node else {
            throw Self.error(file, node.mark, path, "must have fields")
        }
        var nodes: [String: Node] = [:]
        for (key, value) in mapping {
            let name = key.scalar?.string ?? "?"
            let field = Self.join(path, name)
            guard known.contains(name) else {
                throw Self.error(
                    file, key.mark, field, "is unknown; known are \(known.sorted().joined(separator: ", "))")
            }
            guard nodes.updateValue(value, forKey: name) == nil else {
                throw Self.error(file, key.mark, field, "occurs twice")
            }
        }
        self.nodes = nodes
    }

    // MARK: Errors

    /// Returns an error of a field, or of the whole mapping.
    func error(_ key: String?, _ rule: String) -> ConfigurationError {
        let mark = key.flatMap { nodes[$0]?.mark } ?? self.mark
        return Self.error(file, mark, key.map(join) ?? path, rule)
    }

    private static func error(_ file: String, _ mark: Mark?, _ path: String, _ rule: String) -> ConfigurationError {
        let place = mark.map { ":\($0.line):\($0.column)" } ?? ""
        return ConfigurationError(description: "\(file)\(place): \(path.isEmpty ? "" : "\(path): ")\(rule)")
    }

    private func join(_ key: String) -> String { Self.join(path, key) }

    private static func join(_ path: String, _ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

    // MARK: Values

    /// Returns whether the field exists.
    func has(_ key: String) -> Bool { nodes[key] != nil }

    /// Returns a text; a number is also text.
    func text(_ key: String) throws -> String? {
        guard let node = nodes[key] else { return nil }
        guard let scalar = node.scalar, !Self.isNull(scalar) else { throw error(key, "must be text") }
        return scalar.string
    }

    /// Whether a scalar is YAML's null, by the core schema of YAML 1.2.
    private static func isNull(_ scalar: Node.Scalar) -> Bool {
        scalar.style == .plain && ["", "~", "null", "Null", "NULL"].contains(scalar.string)
    }

    /// Returns a text that must exist.
    func requiredText(_ key: String) throws -> String {
        guard let text = try text(key) else { throw error(nil, "lacks the field \(key)") }
        return text
    }

    /// Returns a name that is part of topics: 1 to 64 letters, digits, `_` and `-`.
    func name(_ key: String) throws -> String {
        let name = try requiredText(key)
        let isName =
            (1...64).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
        guard isName else { throw error(key, "\"\(name)\" must be 1 to 64 letters, digits, _ and -, without accents") }
        return name
    }

    /// Returns a part of topics, which may have several levels.
    func topic(_ key: String) throws -> String? {
        guard let topic = try text(key) else { return nil }
        let isTopic =
            (1...256).contains(topic.utf8.count) && !topic.hasPrefix("$")
            && !topic.contains { "+#".contains($0) || $0.unicodeScalars.contains { $0.value < 32 } }
            && topic.split(separator: "/", omittingEmptySubsequences: false).allSatisfy { !$0.isEmpty }
        guard isTopic else { throw error(key, "\"\(topic)\" must be levels of a topic, without +, # and empty levels") }
        return topic
    }

    /// Returns a whole number within a range.
    func integer(_ key: String, in range: ClosedRange<Int>) throws -> Int? {
        guard let text = try text(key) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw error(key, "\"\(text)\" must be a whole number, \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// Returns a number.
    func number(_ key: String) throws -> Double? {
        guard let text = try text(key) else { return nil }
        guard let number = Double(text), number.isFinite else { throw error(key, "\"\(text)\" must be a number") }
        return number
    }

    /// Returns `true` or `false`.
    func boolean(_ key: String) throws -> Bool? {
        switch try text(key) {
        case nil: nil
        case "true": true
        case "false": false
        case .some(let text): throw error(key, "\"\(text)\" must be true or false")
        }
    }

    /// Returns a time: a number with the unit `ms`, `s`, `min` or `h`.
    func duration(_ key: String, in range: ClosedRange<Duration>) throws -> Duration? {
        guard let text = try text(key) else { return nil }
        let digits = text.prefix { $0.isNumber || $0 == "." }
        let unit = text.dropFirst(digits.count).trimmingCharacters(in: .whitespaces)
        let seconds = ["ms": 0.001, "s": 1, "min": 60, "h": 3_600][unit]
        guard let seconds, let number = Double(digits), number * seconds < 1e9 else {
            throw error(key, "\"\(text)\" must be a number with the unit ms, s, min or h")
        }
        let duration = Duration.milliseconds(Int64((number * seconds * 1_000).rounded()))
        guard range.contains(duration) else {
            throw error(key, "\"\(text)\" must be \(range.lowerBound) to \(range.upperBound)")
        }
        return duration
    }

    /// Returns bytes in hexadecimal digits, at least one.
    func bytes(_ key: String) throws -> Data {
        let text = try requiredText(key)
        let digits = Array(text.utf8)
        let bytes = stride(from: 0, to: digits.count - 1, by: 2).compactMap { index in
            UInt8(String(decoding: digits[index...index + 1], as: UTF8.self), radix: 16)
        }
        guard !digits.isEmpty, digits.count.isMultiple(of: 2), bytes.count == digits.count / 2, bytes.count <= 512,
            !text.contains("+"), !text.contains("-")
        else { throw error(key, "\"\(text)\" must be 1 to 512 bytes of two hexadecimal digits each") }
        return Data(bytes)
    }

    // MARK: Parts

    /// Returns the fields of a part.
    func fields(_ key: String, known: Set<String>) throws -> YAMLFields? {
        guard let node = nodes[key] else { return nil }
        return try YAMLFields(node, file: file, path: join(key), known: known)
    }

    /// Returns the fields of each element of a list; an absent list is empty.
    func list(_ key: String, known: Set<String>) throws -> [YAMLFields] {
        guard let node = nodes[key] else { return [] }
        guard case .sequence(let elements) = node else { throw error(key, "must be a list") }
        guard elements.count <= 1_000 else { throw error(key, "has more than 1,000 elements") }
        return try elements.enumerated().map { index, element in
            try YAMLFields(element, file: file, path: "\(join(key))[\(index)]", known: known)
        }
    }
}
