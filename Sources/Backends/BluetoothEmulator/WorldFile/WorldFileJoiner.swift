import BluetoothSupport

/// A reader of the files that a world file includes, which joins their lists.
///
/// A file is read once, even if several files include it. Mistakes are collected, and the reading continues.
struct WorldFileJoiner {
    /// The limit on nested inclusions.
    static let maximumDepth = 8
    /// The limit on the number of files.
    static let maximumFiles = 64
    /// The fields whose lists are joined.
    private static let lists = ["hosts", "devices", "script"]
    /// The fields that apply to the whole world.
    private static let settings = ["seed", "preset", "advertisingCollides"]

    private let root: [String: JSONValue]
    private var files: WorldFiles
    /// The folder that must contain the included files.
    private let folder: WorldFolder
    private var entries: [String: [JSONValue]] = [:]
    /// The files that were read, and those that are being read, with symbolic links resolved.
    private var known: Set<String> = []
    private var open: [String] = []
    private var bytes: Int

    init(root: [String: JSONValue], files: WorldFiles) {
        self.root = root
        self.files = files
        bytes = files.parts[0].text.count
        let file = WorldFolder.resolved(files.parts[0].name)
        folder = WorldFolder(ofFile: files.parts[0].name)
        known = [file]
        open = [file]
    }

    mutating func joined() throws -> WorldFiles {
        try add(root, part: 0)
        var object = root
        object[WorldDescription.includeField] = nil
        for (list, entries) in entries where !entries.isEmpty { object[list] = .list(entries) }
        files.json = try JSONEncoder().encode(object)
        return files
    }

    /// Adds the files that a file includes, then the file's own lists.
    private mutating func add(_ object: [String: JSONValue], part: Int) throws {
        for (field, value) in list(WorldDescription.includeField, of: object, part).located(at: "include") {
            if case .text(let name) = value {
                try include(name, from: part, field: field)
            } else {
                report(field, "text is wanted here", part)
            }
        }
        for name in Self.lists {
            let own = list(name, of: object, part)
            entries[name, default: []] += name == "devices" ? own.map { relocated($0, part) } : own
            files.origins[name, default: []] += own.indices.map { WorldFiles.Origin(part: part, index: $0) }
        }
    }

    /// Returns a device whose recording has a path relative to the first file.
    private func relocated(_ device: JSONValue, _ part: Int) -> JSONValue {
        guard case .object(var fields) = device, case .text(let name)? = fields[PeripheralDescription.recordingField],
            !name.hasPrefix("/")
        else {
            return device
        }
        let folder = WorldFolder.name(of: files.parts[part].name).dropFirst(
            WorldFolder.name(of: files.parts[0].name).count)
        fields[PeripheralDescription.recordingField] = .text(folder + name)
        return .object(fields)
    }

    private mutating func list(_ name: String, of object: [String: JSONValue], _ part: Int) -> [JSONValue] {
        switch object[name] {
        case nil, .null: return []
        case .list(let entries): return entries
        default:
            report(name, "a list is wanted here", part)
            return []
        }
    }

    private mutating func include(_ name: String, from part: Int, field: String) throws {
        guard !name.isEmpty, !name.hasPrefix("/") else {
            return report(field, "the path of an included file is relative to the file that includes it", part)
        }
        let parent = files.parts[part].name
        let file = WorldFolder.name(of: parent) + name
        let path = WorldFolder.resolved(file)
        guard folder.contains(file) else {
            return report(field, "an included file is in the folder of the first file or below", part)
        }
        guard !open.contains(path) else { return report(field, "the file includes itself", part) }
        guard !known.contains(path) else { return }
        guard open.count <= Self.maximumDepth else {
            return report(field, "files include files on \(Self.maximumDepth) levels or fewer", part)
        }
        guard known.count <= Self.maximumFiles else {
            return report(field, "\(Self.maximumFiles) files are included or fewer", part)
        }
        known.insert(path)
        guard let text = text(of: path, field: field, part: part) else { return }
        open.append(path)
        defer { open.removeLast() }
        files.parts.append(WorldFiles.Part(name: file, text: text))
        try addIncluded(try files.format.json(text, file), part: files.parts.count - 1)
    }

    private mutating func addIncluded(_ json: Data, part: Int) throws {
        if let mistake = files.syntaxMistake(of: json, part: part) { return files.mistakes.append(mistake) }
        guard let object = WorldFiles.object(json) else { return report("", "an object is wanted", part) }
        let names = WorldDescription.fields.names
        for name in object.keys.sorted() where !names.contains(name) {
            report(name, "there is no such field; known are \(names.sorted().joined(separator: ", "))", part)
        }
        for name in Self.settings {
            guard let value = object[name], value != .null, value != root[name] else { continue }
            report(name, "the first file decides the \(name): an included file has none, or the same", part)
        }
        try add(object, part: part)
    }

    /// Returns the contents of an included file; if it cannot be read, adds a mistake and returns nil.
    private mutating func text(of path: String, field: String, part: Int) -> Data? {
        do throws(NamedFileProblem) {
            let text = try NamedFileProblem.contents(of: path, atMost: WorldFiles.maximumBytes - bytes)
            bytes += text.count
            return text
        } catch {
            switch error {
            case .notRegular: report(field, "an included file is a regular file", part)
            case .tooLarge: report(field, "all files together have \(WorldFiles.maximumBytes) bytes or fewer", part)
            case .unreadable(let reason): report(field, "the file cannot be read: \(reason)", part)
            }
            return nil
        }
    }

    private mutating func report(_ field: String, _ rule: String, _ part: Int) {
        guard files.mistakes.count < MistakeCollector.maximumCount else { return }
        files.mistakes += files.place([DescriptionError(field, rule)], inPart: part)
    }
}
