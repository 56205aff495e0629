import BluetoothSupport

/// A world file with the files that it includes, joined into one JSON text.
///
/// Of an included file, the hosts, devices and steps come before those of the file that includes it.
package struct WorldFiles {
    /// How the text of a file is read.
    package struct Format: Sendable {
        /// The JSON of a text; with the name of the file.
        package let json: @Sendable (_ text: Data, _ file: String) throws -> Data
        /// The place of a field, or of the nearest one around it.
        package let place: @Sendable (_ field: String, _ text: Data, _ file: String) -> DescriptionError.Place?

        package init(
            json: @escaping @Sendable (_ text: Data, _ file: String) throws -> Data,
            place: @escaping @Sendable (_ field: String, _ text: Data, _ file: String) -> DescriptionError.Place?
        ) {
            self.json = json
            self.place = place
        }
    }

    /// A file that was read.
    struct Part {
        var name: String
        var text: Data
    }

    /// Where an entry of a list comes from.
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
    /// For each list of the joined text, where its entries come from.
    var origins: [String: [Origin]] = [:]

    /// The recordings that devices play.
    private var recordings: RecordingFiles

    /// Reads the files that a file includes.
    ///
    /// - Parameters:
    ///   - file: The path of the file.
    ///   - text: Its contents.
    /// - Throws: What the format throws for a text that it cannot read.
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

    /// The world, checked.
    ///
    /// - Throws: The first mistake, with file, place, path and rule.
    package func world() throws(DescriptionError) -> WorldDescription {
        if let mistake = mistakes.first { throw mistake }
        do throws(DescriptionError) {
            return try WorldDescription(unplaced: json, recordings)
        } catch {
            throw located(error)
        }
    }

    /// All mistakes, each with its file and place.
    package func allMistakes() -> [DescriptionError] {
        if let mistake = syntaxMistake(of: json, part: 0) { return [mistake] }
        let found = mistakes + WorldDescription.unplacedMistakes(inJSON: json, recordings).map(located)
        let order = Dictionary(parts.enumerated().map { ($1.name, $0) }) { first, _ in first }
        func key(_ mistake: DescriptionError) -> (Int, Int, Int) {
            (mistake.file.flatMap { order[$0] } ?? 0, mistake.place?.line ?? 0, mistake.place?.column ?? 0)
        }
        return found.sorted { key($0) < key($1) }
    }

    /// An error about the joined text, with the file, the path in it and the place.
    package func located(_ error: DescriptionError) -> DescriptionError {
        // A mistake in a recording has its own file and place.
        if error.file != nil { return error }
        if let mistake = syntaxMistake(of: json, part: 0) { return mistake }
        var (found, number) = (error, 0)
        for (list, origins) in origins where error.path.hasPrefix(list + "[") {
            let digits = error.path.dropFirst(list.count + 1).prefix { $0 != "]" }
            guard let index = Int(digits), origins.indices.contains(index) else { continue }
            number = origins[index].part
            found.path = "\(list)[\(origins[index].index)" + error.path.dropFirst(list.count + 1 + digits.count)
        }
        return place(found, inPart: number)
    }

    /// An error with the file and the place.
    func place(_ error: DescriptionError, inPart number: Int) -> DescriptionError {
        var placed = error.inFile(parts[number].name)
        placed.place = error.place ?? format.place(error.path, parts[number].text, parts[number].name)
        return placed
    }

    /// The first syntax error of a file's JSON; nil where there is none.
    func syntaxMistake(of json: Data, part: Int) -> DescriptionError? {
        DescriptionError.syntaxError(of: Array(json))?.inFile(parts[part].name)
    }

    /// The fields of a JSON object; nil for another text, whose mistake another reader reports.
    static func object(_ json: Data) -> [String: JSONValue]? {
        try? JSONDecoder().decode([String: JSONValue].self, from: json)
    }
}

extension WorldFiles.Format {
    /// JSON alone; YAML is refused with the command that converts it.
    static func json(root: String) -> WorldFiles.Format {
        WorldFiles.Format(
            json: { text, file in
                let isYAML = [".yaml", ".yml"].contains { file.lowercased().hasSuffix($0) }
                guard isYAML, JSONScanner.mistake(in: Array(text)) != nil else { return text }
                throw DescriptionError(
                    "", "only bluectl reads YAML: convert it with \"bluectl world convert \(root) > world.json\""
                ).inFile(file)
            }, place: { field, text, _ in place(of: field, inJSON: text) })
    }

    /// The place of a field of JSON.
    package static func place(of field: String, inJSON text: Data) -> DescriptionError.Place? {
        let bytes = Array(text)
        return JSONScanner.offset(of: field, in: bytes).map { DescriptionError.Place(of: $0, in: bytes) }
    }
}
