extension DecodingError {
    /// The place in the text and the reason: `faults[0].where.kind: "x" names no command and no event`.
    package var reason: String {
        let (context, missing): (Context, (any CodingKey)?) =
            switch self {
            case .keyNotFound(let key, let context): (context, key)
            case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
                (context, nil)
            @unknown default: (Context(codingPath: [], debugDescription: "\(self)"), nil)
            }
        let path = Self.path(context.codingPath + [missing].compactMap(\.self))
        let rule = missing == nil ? context.debugDescription : "missing"
        return path.isEmpty ? rule : "\(path): \(rule)"
    }

    /// Returns the text of a path: `faults[0].where.kind`.
    package static func path(_ keys: [any CodingKey]) -> String {
        keys.reduce("") { path, key in
            if let index = key.intValue { return path + "[\(index)]" }
            return path.isEmpty ? key.stringValue : path + "." + key.stringValue
        }
    }
}
