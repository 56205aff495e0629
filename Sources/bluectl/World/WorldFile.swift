#if Emulator
import BluetoothEmulator
import Foundation
import Yams

/// A file that describes emulated devices: JSON, or YAML by its extension (`.yaml`, `.yml`).
///
/// The error about a mistake names the file, the line and column if they are known, the path of the field, and the
/// rule.
struct WorldFile {
    let path: String

    /// The emulator with the file's devices, and with the settings of its preset, which `change` may change.
    func emulator(_ change: (inout EmulatorConfiguration) -> Void = { _ in }) throws(Failure) -> Emulator {
        let world = try description(of: text())
        var configuration = world.preset?.configuration ?? .default
        change(&configuration)
        do {
            return try Emulator(world: world, configuration: configuration)
        } catch {
            throw Failure(.usage, "\(path): \(error)")
        }
    }

    /// The contents of the file.
    ///
    /// - Throws: A usage failure where it cannot be read.
    func text() throws(Failure) -> String {
        do {
            return try String(contentsOfFile: path, encoding: .utf8)
        } catch {
            let reason = (error as NSError).localizedDescription
            throw Failure(.usage, "\(path): the file cannot be read: \(reason)")
        }
    }

    /// The world that the file's text describes.
    func description(of text: String) throws(Failure) -> WorldDescription {
        let json = try json(of: text)
        do throws(DescriptionError) {
            return try WorldDescription(json: json)
        } catch {
            if !isYAML, let place = error.place { throw failure(at: error.path, error.rule, place) }
            throw failure(at: error.path, error.rule, in: text)
        }
    }

    private var isYAML: Bool { path.hasSuffix(".yaml") || path.hasSuffix(".yml") }

    private func json(of text: String) throws(Failure) -> Data {
        isYAML ? try YAMLText(text, file: path).json() : Data(text.utf8)
    }

    /// The path of a field of the world as it is in the file, where one entry may stand for many devices.
    func pathInFile(_ field: String, of text: String) -> String {
        // A text that is no YAML has another failure, without this field.
        guard let json = try? json(of: text) else { return field }
        return WorldDescription.pathInFile(field, of: json)
    }

    /// All mistakes of the file's text, with their places.
    ///
    /// - Throws: A usage failure for a text in YAML that cannot be parsed.
    func mistakes(of text: String) throws(Failure) -> [DescriptionError] {
        let mistakes = WorldDescription.mistakes(inJSON: try json(of: text))
        guard isYAML else { return mistakes }
        return mistakes.map { mistake in
            var placed = mistake
            placed.place = YAMLText.place(of: mistake.path, in: text)
            return placed
        }.sorted { ($0.place?.line ?? 0, $0.place?.column ?? 0) < ($1.place?.line ?? 0, $1.place?.column ?? 0) }
    }

    /// The same content in JSON, over several lines and with sorted fields.
    func prettyJSON(of text: String) throws(Failure) -> String {
        let json = try json(of: text)
        do {
            let value = try JSONSerialization.jsonObject(with: json)
            let data = try JSONSerialization.data(
                withJSONObject: value, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
            return String(decoding: data, as: UTF8.self)
        } catch {
            throw Failure(.failed, PrintableText.of("\(path): \(error)"))
        }
    }

    func failure(for mistake: DescriptionError) -> Failure { failure(at: mistake.path, mistake.rule, mistake.place) }

    func failure(at field: String, _ rule: String, in text: String) -> Failure {
        failure(at: field, rule, YAMLText.place(of: field, in: text))
    }

    private func failure(at field: String, _ rule: String, _ place: DescriptionError.Place?) -> Failure {
        let place = place.map { ":\($0.line):\($0.column)" } ?? ""
        let parts = [path + place, field, rule].filter { !$0.isEmpty }
        return Failure(.usage, PrintableText.of(parts.joined(separator: ": ")))
    }
}

/// A text in YAML.
///
/// JSON is YAML too, so that its lines can be looked up as well.
struct YAMLText {
    /// More nodes than any description has; aliases of aliases can make millions out of a few lines.
    private static let maximumNodes = 100_000
    /// Fields that hold text even where it looks like a number: `uuid: 1809`, `value: 64`.
    private static let textFields: Set<String> = [
        "uuid", "value", "values", "includes", "services", "solicitedServices", "serviceData", "manufacturerData",
        "name", "localName", "address",
    ]

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
    /// - Throws: A usage failure for what JSON cannot hold.
    func json() throws(Failure) -> Data {
        var budget = Self.maximumNodes
        let value = try plain(root, field: nil, &budget)
        do {
            return try JSONSerialization.data(withJSONObject: value, options: [.fragmentsAllowed])
        } catch {
            throw Failure(.usage, "\(file): \(error)")
        }
    }

    private func plain(_ node: Node, field: String?, _ budget: inout Int) throws(Failure) -> Any {
        budget -= 1
        guard budget > 0 else { throw Failure(.usage, "\(file): the description is too large") }
        switch node {
        case .mapping(let mapping):
            var object: [String: Any] = [:]
            for (key, value) in mapping {
                guard let name = key.scalar?.string else { throw failure(key, "the name of a field must be text") }
                // Everything below a field of text is text, such as the keys and values of `serviceData`.
                let inner = field.map { Self.textFields.contains($0) && $0 != "services" ? $0 : name } ?? name
                object[name] = try plain(value, field: inner, &budget)
            }
            return object
        case .sequence(let sequence):
            var array: [Any] = []
            for element in sequence { array.append(try plain(element, field: field, &budget)) }
            return array
        case .scalar(let scalar):
            guard scalar.style == .plain, !Self.textFields.contains(field ?? "") else { return scalar.string }
            if node.null != nil { return NSNull() }
            if let value = node.bool { return value }
            if let value = node.int { return value }
            if let value = node.float, value.isFinite { return value }
            return scalar.string
        case .alias:
            throw failure(node, "an alias has no anchor")
        }
    }

    private func failure(_ node: Node, _ rule: String) -> Failure {
        Failure(.usage, "\(file)\(node.mark.map { ":\($0.line):\($0.column)" } ?? ""): \(rule)")
    }

    /// The parser's words: line and column, then what is wrong; without the excerpt of the file below.
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

    /// The line and column, from 1, of a field such as `devices[1].services[0].uuid`, or of the nearest field around
    /// it.
    static func place(of path: String, in text: String) -> DescriptionError.Place? {
        // A text that cannot be parsed has no positions; another error reports the reason.
        guard let root = try? Yams.compose(yaml: text), !path.isEmpty else { return nil }
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
