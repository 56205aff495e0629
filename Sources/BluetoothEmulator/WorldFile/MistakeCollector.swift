import BluetoothSupport

/// The mistakes of a world file, where a reader collects them and reads on.
final class MistakeCollector: Sendable {
    /// More mistakes than a reader wants at once.
    static let maximumCount = 100
    private static let key = CodingUserInfoKey(rawValue: "mistakes")

    private let list = Lock<[DescriptionError]>([])
    private let entries = Lock<[Int]>([])

    /// The mistakes, in the order in which they were found, one for each path.
    var mistakes: [DescriptionError] { list.withLock { $0 } }

    /// The numbers of the entries of the file that the devices of the world come from.
    var deviceEntries: [Int] {
        get { entries.withLock { $0 } }
        set { entries.withLock { $0 = newValue } }
    }

    func add(_ error: any Error) {
        let mistake = DescriptionError(reading: error)
        list.withLock { list in
            guard list.count < Self.maximumCount, !list.contains(where: { $0.path == mistake.path }) else { return }
            list.append(mistake)
        }
    }

    /// Whether no mistake was found at a path or below.
    func isSound(_ path: String) -> Bool {
        list.withLock { list in
            !list.contains { $0.path.hasPrefix(path) && [nil, ".", "["].contains($0.path.dropFirst(path.count).first) }
        }
    }

    /// A decoder whose mistakes are collected here.
    func decoder() -> JSONDecoder {
        let decoder = JSONDecoder()
        if let key = Self.key { decoder.userInfo[key] = self }
        return decoder
    }

    /// That of a decoder; nil where the first mistake ends the reading.
    static func of(_ decoder: any Decoder) -> MistakeCollector? {
        key.flatMap { decoder.userInfo[$0] } as? MistakeCollector
    }
}

extension MistakeCollector? {
    /// Reads a part; where mistakes are collected, one of its is, and the part is `placeholder`.
    func collecting<Value>(_ placeholder: @autoclosure () -> Value, _ read: () throws -> Value) throws -> Value {
        guard let self else { return try read() }
        do {
            return try read()
        } catch {
            self.add(error)
            return placeholder()
        }
    }
}

extension Decoder {
    /// Reads a part; where mistakes are collected, one of its is, and the part is `placeholder`.
    func collecting<Value>(_ placeholder: @autoclosure () -> Value, _ read: () throws -> Value) throws -> Value {
        try MistakeCollector.of(self).collecting(placeholder(), read)
    }

    /// The same for an object whose fields depend on each other: it is checked if no field has a mistake, and `read` is
    /// called if all checks succeed.
    ///
    /// - Parameter checks: The checks of an object, with what precedes the name of a field in its path.
    func collecting<Object, Value>(
        _ placeholder: @autoclosure () -> Value, _ fields: FieldTable<Object>,
        checks: (_ object: Object, _ prefix: String) -> [RuleCheck], _ read: (Object) throws -> Value
    ) throws -> Value {
        try collecting(placeholder()) {
            let object = try fields.read(self)
            let path = DescriptionError.path(codingPath)
            var isSound: Bool { MistakeCollector.of(self)?.isSound(path) ?? true }
            guard isSound else { return placeholder() }
            for check in checks(object, path.isEmpty ? "" : path + ".") {
                try collecting(()) { try check.run() }
            }
            return isSound ? try read(object) : placeholder()
        }
    }
}

extension WorldDescription {
    /// All mistakes of a text that is JSON, without places: a hundred at most.
    ///
    /// A rule is not checked where what it is about could not be read.
    static func unplacedMistakes(inJSON json: Data, _ recordings: RecordingFiles? = nil) -> [DescriptionError] {
        let collector = MistakeCollector()
        let decoder = collector.decoder()
        recordings?.serve(decoder)
        do {
            let world = try decoder.decode(WorldDescription.self, from: json)
            world.collectBrokenRules(in: collector)
        } catch {
            collector.add(error)
        }
        return collector.mistakes
    }

    /// Whether a mistake at a path hides the name or the address of a device or a host, which others may refer to.
    private static func hidesName(_ path: String) -> Bool {
        let parts = path.split(separator: ".")
        guard let list = parts.first, list.hasPrefix("devices") || list.hasPrefix("hosts") else { return false }
        return parts.count == 1 || ["name", "address", DeviceGroup.countField].contains(String(parts[1]))
    }

    /// Checks the rules of what was read.
    private func collectBrokenRules(in collector: MistakeCollector) {
        // What was read, before the first broken rule.
        let reading = MistakeCollector()
        for mistake in collector.mistakes { reading.add(mistake) }
        let entries = collector.deviceEntries
        let areNamesKnown = !reading.mistakes.contains { Self.hidesName($0.path) }
        let areDevicesKnown = reading.isSound("devices")
        for check in checks where reading.isSound(Self.pathInFile(check.path, entries)) {
            do throws(DescriptionError) {
                try check.run()
            } catch {
                let isReference = check.path.hasPrefix("script[") || check.path.contains(".centrals[")
                let field = error.path.split(separator: ".").last ?? ""
                if isReference, !areNamesKnown, ["device", "host"].contains(field) { continue }
                if isReference, !areDevicesKnown, ["characteristic", "value", "subscriptions"].contains(field) {
                    continue
                }
                collector.add(DescriptionError(Self.pathInFile(error.path, entries), error.rule))
            }
        }
    }
}
