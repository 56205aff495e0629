#if Emulator
import BluetoothEmulator
import Foundation
import Yams

/// A world file in YAML.
///
/// The field decides the type of a value without quotation marks: `uuid: 1809` and `passkey: 000123` are text. JSON is
/// also YAML, so its lines can be looked up as well.
struct YAMLText {
    /// The maximum number of nodes, more than any description has; aliases of aliases can expand a few lines to
    /// millions.
    private static let maximumNodes = 100_000

    private let root: Node
    private let file: String

    /// Parses the text.
    ///
    /// - Throws: A usage failure with line and column.
    init(_ text: String, file: String) throws(Failure) {
        self.file = file
        do {
            guard let root = try Yams.compose(yaml: text) else { throw Failure(.usage, "\(file): the file is empty") }
            self.root = root
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(.usage, Self.oneLine(error, file: file))
        }
    }

    /// The same content in JSON.
    ///
    /// - Throws: A usage failure for content that JSON cannot contain.
    func json() throws(Failure) -> Data {
        var budget = Self.maximumNodes
        let value = try plain(root, .file, &budget)
        do {
            return try JSONSerialization.data(withJSONObject: value, options: [.fragmentsAllowed])
        } catch {
            throw Failure(.usage, "\(file): \(error)")
        }
    }

    private func plain(_ node: Node, _ schema: WorldSchema?, _ budget: inout Int) throws(Failure) -> Any {
        budget -= 1
        guard budget > 0 else { throw Failure(.usage, "\(file): the description is too large") }
        switch node {
        case .mapping(let mapping):
            var object: [String: Any] = [:]
            for (key, value) in mapping {
                guard let name = key.scalar?.string else { throw failure(key, "the name of a field must be text") }
                object[name] = try plain(value, schema?.field(name), &budget)
            }
            return object
        case .sequence(let sequence):
            var array: [Any] = []
            for element in sequence { array.append(try plain(element, schema?.element, &budget)) }
            return array
        case .scalar(let scalar):
            return scalar.style == .plain ? Self.value(of: scalar.string, as: schema?.kind ?? .text) : scalar.string
        case .alias:
            throw failure(node, "an alias has no anchor")
        }
    }

    /// Returns the value of a plain scalar; its text if it is not of the kind, which the reader of the fields reports.
    private static func value(of text: String, as kind: WorldSchema.Kind) -> Any {
        let isNull = text.isEmpty || kind != .text && ["~", "null", "Null", "NULL"].contains(text)
        if isNull { return NSNull() }
        switch kind {
        case .number: return number(text) ?? text
        case .boolean: return boolean(text) ?? text
        case .text, .list, .object: return text
        }
    }

    /// Returns a number as in JSON, with an optional sign, or in hexadecimal digits after `0x`.
    ///
    /// Leading zeros are not allowed: YAML 1.1 reads `010` as 8, and YAML 1.2 as 10.
    private static func number(_ text: String) -> Any? {
        let sign = ["+", "-"].contains(text.first) ? String(text.prefix(1)) : ""
        let digits = text.dropFirst(sign.count)
        if digits.hasPrefix("0x") {
            return digits.dropFirst(2).allSatisfy(\.isHexDigit) ? Int(sign + digits.dropFirst(2), radix: 16) : nil
        }
        guard digits.allSatisfy({ $0.isASCII && ($0.isNumber || ".eE+-".contains($0)) }),
            digits.first != "0" || digits.dropFirst().first?.isNumber != true
        else { return nil }
        if let value = Int(text) { return value }
        if let value = UInt64(text) { return value }
        return Double(text).flatMap { $0.isFinite ? $0 : nil }
    }

    /// Returns the value of the words of YAML 1.1 and 1.2.
    private static func boolean(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "true", "yes", "on": true
        case "false", "no", "off": false
        default: nil
        }
    }

    private func failure(_ node: Node, _ rule: String) -> Failure {
        Failure(.usage, "\(file)\(node.mark.map { ":\($0.line):\($0.column)" } ?? ""): \(rule)")
    }

    /// Returns the parser's message: line and column, then the mistake; without the excerpt of the file below.
    private static func oneLine(_ error: any Error, file: String) -> String {
        guard let error = error as? YamlError else { return "\(file): \(error)" }
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            return "\(file):\(mark.line):\(mark.column): \(PrintableText.of(problem))"
        case .duplicatedKeysInMapping(let duplicates, let context):
            let names = duplicates.map { "\"\(PrintableText.of($0))\"" }.sorted().joined(separator: ", ")
            return "\(file):\(context.mark.line):\(context.mark.column): the field \(names) appears twice"
        default:
            return "\(file): \(PrintableText.of("\(error)".split(separator: "\n").joined(separator: " ")))"
        }
    }

    /// Returns the line and column, from 1, of each field such as `devices[1].services[0].uuid`, or of the nearest
    /// field around it.
    static func places(of paths: [String], in text: String) -> [DescriptionError.Place?] {
        // A text that cannot be parsed has no positions; another error reports the reason.
        guard let root = try? Yams.compose(yaml: text) else { return paths.map { _ in nil } }
        return paths.map { place(of: $0, in: root) }
    }

    private static func place(of path: String, in root: Node) -> DescriptionError.Place? {
        guard !path.isEmpty else { return nil }
        var node = root
        var mark: Mark?
        for step in path.split(whereSeparator: { ".[]".contains($0) }) {
            let next: Node?
            if let index = Int(step), let sequence = node.sequence {
                next = sequence.indices.contains(index) ? sequence[index] : nil
                mark = next?.mark ?? mark
            } else {
                let entry = node.mapping?.first { $0.key.scalar?.string == String(step) }
                mark = entry?.key.mark ?? mark
                next = entry?.value
            }
            guard let found = next else { break }
            node = found
            if node.scalar == nil, node.sequence == nil { mark = node.mark ?? mark }
        }
        return mark.map { DescriptionError.Place(line: $0.line, column: $0.column) }
    }
}
#endif
