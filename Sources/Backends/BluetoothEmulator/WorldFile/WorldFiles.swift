import BluetoothSupport

/// A world file with the files that it includes, joined into one JSON text.
///
/// The hosts, devices and steps of an included file precede those of the file that includes it.
package struct WorldFiles {
    /// The limit on the total size of the files of a world, in bytes.
    package static let maximumBytes = 16_777_216

    /// The format of a file's text.
    package struct Format: Sendable {
        /// Converts a text to JSON; receives the name of the file, too.
        package let json: @Sendable (_ text: Data, _ file: String) throws -> Data
        /// Returns the place of each field, or of its nearest enclosing field.
        package let places: @Sendable (_ fields: [String], _ text: Data, _ file: String) -> [DescriptionError.Place?]

        package init(
            json: @escaping @Sendable (_ text: Data, _ file: String) throws -> Data,
            places: @escaping @Sendable (_ fields: [String], _ text: Data, _ file: String) -> [DescriptionError.Place?]
        ) {
            self.json = json
            self.places = places
        }
    }

    /// A file that was read.
    struct Part {
        var name: String
        var text: Data
    }

    /// The file and the index of an entry of a list.
    struct Origin {
        var part: Int
        var index: Int
    }

    private(set) var format: Format
    var parts: [Part]
    /// The joined text; that of the file itself if it includes none.
    package var json: Data
    /// The mistakes of joining, each with its file and place.
    var mistakes: [DescriptionError] = []
    /// The origins of the entries, for each list of the joined text.
    var origins: [String: [Origin]] = [:]

    /// The recordings that devices replay.
    private var recordings: RecordingFiles

    /// Reads the files that a file includes.
    ///
    /// - Parameters:
    ///   - file: The path of the file.
    ///   - text: The file's contents.
    /// - Throws: The format's error for a text that cannot be read.
    package init(_ file: String, text: Data, format: Format) throws {
        self.format = format
        parts = [Part(name: file, text: text)]
        recordings = RecordingFiles(beside: file)
        json = try format.json(text, file)
        guard let root = Self.object(json), root[WorldDescription.includeField] != nil,
            syntaxMistake(of: json, part: 0) == nil
        else {
            return
        }
        var joiner = WorldFileJoiner(root: root, files: self)
        self = try joiner.joined()
    }

    /// Returns the checked world.
    ///
    /// - Throws: The first mistake, with its file, place, path and rule.
    package func world() throws(DescriptionError) -> WorldDescription {
        if let mistake = mistakes.first { throw mistake }
        do throws(DescriptionError) {
            return try WorldDescription(unplaced: json, recordings)
        } catch {
            throw located(error)
        }
    }

    /// Returns all mistakes, each with its file and place.
    package func allMistakes() -> [DescriptionError] {
        if let mistake = syntaxMistake(of: json, part: 0) { return [mistake] }
        let found = mistakes + placed(WorldDescription.unplacedMistakes(inJSON: json, recordings))
        let order = Dictionary(parts.enumerated().map { ($1.name, $0) }) { first, _ in first }
        func key(_ mistake: DescriptionError) -> (Int, Int, Int) {
            (mistake.file.flatMap { order[$0] } ?? 0, mistake.place?.line ?? 0, mistake.place?.column ?? 0)
        }
        return found.sorted { key($0) < key($1) }
    }

    /// Returns an error about the joined text with the file, the path in that file and the place.
    package func located(_ error: DescriptionError) -> DescriptionError {
        syntaxMistake(of: json, part: 0) ?? placed([error])[0]
    }

    /// Returns errors about the joined text, each with its file, the path in it and the place; each file is searched
    /// once.
    private func placed(_ errors: [DescriptionError]) -> [DescriptionError] {
        var placed = errors
        // A mistake in a recording has its own file and place.
        let own = errors.indices.filter { errors[$0].file == nil }
        for (part, indices) in Dictionary(grouping: own, by: { origin(of: errors[$0].path).part }) {
            let found = indices.map { index in
                var error = errors[index]
                error.path = origin(of: error.path).path
                return error
            }
            for (index, error) in zip(indices, place(found, inPart: part)) { placed[index] = error }
        }
        return placed
    }

    /// Returns the file that contains a path of the joined text, and the path in that file.
    private func origin(of path: String) -> (part: Int, path: String) {
        for (list, origins) in origins where path.hasPrefix(list + "[") {
            let digits = path.dropFirst(list.count + 1).prefix { $0 != "]" }
            guard let index = Int(digits), origins.indices.contains(index) else { continue }
            let rest = path.dropFirst(list.count + 1 + digits.count)
            return (origins[index].part, "\(list)[\(origins[index].index)" + rest)
        }
        return (0, path)
    }

    /// Returns errors with the file and their places.
    func place(_ errors: [DescriptionError], inPart number: Int) -> [DescriptionError] {
        let part = parts[number]
        return zip(errors, format.places(errors.map(\.path), part.text, part.name)).map { error, place in
            var placed = error.inFile(part.name)
            placed.place = error.place ?? place
            return placed
        }
    }

    /// Returns the first syntax error in a file's JSON; nil if it has none.
    func syntaxMistake(of json: Data, part: Int) -> DescriptionError? {
        DescriptionError.syntaxError(of: Array(json))?.inFile(parts[part].name)
    }

    /// Returns the fields of a JSON object; nil for another text, whose mistake another reader reports.
    static func object(_ json: Data) -> [String: JSONValue]? {
        try? JSONDecoder().decode([String: JSONValue].self, from: json)
    }
}

extension WorldFiles.Format {
    /// A format that accepts only JSON; YAML is refused with the command that converts it.
    static func json(root: String) -> WorldFiles.Format {
        WorldFiles.Format(
            json: { text, file in
                let isYAML = [".yaml", ".yml"].contains { file.lowercased().hasSuffix($0) }
                guard isYAML, JSONScanner.mistake(in: Array(text)) != nil else { return text }
                throw DescriptionError(
                    "", "only bluectl reads YAML: convert it with \"bluectl world convert \(root) > world.json\""
                ).inFile(file)
            }, places: { fields, text, _ in places(of: fields, inJSON: text) })
    }

    /// Returns the places of fields in JSON.
    package static func places(of fields: [String], inJSON text: Data) -> [DescriptionError.Place?] {
        let bytes = Array(text)
        return JSONScanner.offsets(of: fields, in: bytes).map { offset in
            offset.map { DescriptionError.Place(of: $0, in: bytes) }
        }
    }
}
