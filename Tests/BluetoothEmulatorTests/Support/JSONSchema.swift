import Foundation

/// The subset of JSON Schema that the published schema uses.
struct JSONSchema {
    let root: [String: Any]

    init(contentsOf url: URL) throws {
        let object = try JSONSerialization.jsonObject(with: Data(contentsOf: url))
        root = object as? [String: Any] ?? [:]
    }

    /// Returns the fields of a definition; nil names the root.
    func fields(_ definition: String?) -> Set<String> {
        let schema = definition.flatMap { self.definition($0) } ?? root
        return Set((schema["properties"] as? [String: Any] ?? [:]).keys)
    }

    func definition(_ name: String) -> [String: Any]? {
        (root["$defs"] as? [String: Any])?[name] as? [String: Any]
    }

    /// Returns the problems of a value, each with its path.
    func problems(_ value: Any) -> [String] { problems(value, root, "$") }

    private func problems(_ value: Any, _ schema: [String: Any], _ path: String) -> [String] {
        var found: [String] = []
        if let reference = schema["$ref"] as? String, let name = reference.split(separator: "/").last,
            let target = definition(String(name))
        {
            found += problems(value, target, path)
        }
        if let allowed = schema["enum"] as? [String], !allowed.contains(value as? String ?? "") {
            found.append("\(path): not one of \(allowed)")
        }
        if let options = schema["anyOf"] as? [[String: Any]], options.allSatisfy({ !problems(value, $0, path).isEmpty })
        {
            found.append("\(path): none of \(options)")
        }
        if let type = schema["type"] as? String, !isType(value, type) { return found + ["\(path): no \(type)"] }
        if let text = value as? String, let pattern = schema["pattern"] as? String,
            text.range(of: pattern, options: .regularExpression) == nil
        {
            found.append("\(path): \"\(text)\" does not match")
        }
        if let number = number(value), !(value is Bool) {
            if let minimum = self.number(schema["minimum"]), number < minimum { found.append("\(path): too small") }
            if let maximum = self.number(schema["maximum"]), number > maximum { found.append("\(path): too large") }
        }
        if let list = value as? [Any], let items = schema["items"] as? [String: Any] {
            for (index, item) in list.enumerated() { found += problems(item, items, "\(path)[\(index)]") }
        }
        if let object = value as? [String: Any] { found += problems(in: object, schema, path) }
        return found
    }

    private func problems(in object: [String: Any], _ schema: [String: Any], _ path: String) -> [String] {
        guard schema["$ref"] == nil else { return [] }
        let properties = schema["properties"] as? [String: Any] ?? [:]
        var found = (schema["required"] as? [String] ?? []).filter { object[$0] == nil }.map { "\(path): no \($0)" }
        for (key, value) in object.sorted(by: { $0.key < $1.key }) {
            if let field = properties[key] as? [String: Any] {
                found += problems(value, field, "\(path).\(key)")
            } else if let rest = schema["additionalProperties"] as? [String: Any] {
                found += problems(value, rest, "\(path).\(key)")
            } else if schema["additionalProperties"] as? Bool == false {
                found.append("\(path): unknown \(key)")
            }
        }
        return found
    }

    private func isType(_ value: Any, _ type: String) -> Bool {
        switch type {
        case "object": value is [String: Any]
        case "array": value is [Any]
        case "string": value is String
        case "boolean": value is Bool
        case "integer": value is Int
        case "number": number(value) != nil
        default: false
        }
    }

    private func number(_ value: Any?) -> Double? { (value as? Int).map(Double.init) ?? value as? Double }
}
