import BluetoothSupport

/// The mistakes of a world file, collected by a reader that continues after each.
final class MistakeCollector: Sendable {
    /// The maximum number of collected mistakes.
    static let maximumCount = 100
    private static let key = CodingUserInfoKey(rawValue: "mistakes")

    private let list = Lock<[DescriptionError]>([])
    private let entries = Lock<[Int]>([])

    /// The mistakes in the order in which they were found, one for each path.
    var mistakes: [DescriptionError] { list.withLock { $0 } }

    /// For each device of the world, the number of its entry in the file.
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

    /// Returns whether no mistake was found at a path or below it.
    func isSound(_ path: String) -> Bool {
        list.withLock { list in
            !list.contains { $0.path.hasPrefix(path) && [nil, ".", "["].contains($0.path.dropFirst(path.count).first) }
        }
    }

    /// Returns a decoder whose mistakes are collected here.
    func decoder() -> JSONDecoder {
        let decoder = JSONDecoder()
        if let key = Self.key { decoder.userInfo[key] = self }
        return decoder
    }

    /// Returns the collector of a decoder; nil if the first mistake ends the decoding.
    static func of(_ decoder: any Decoder) -> MistakeCollector? {
        key.flatMap { decoder.userInfo[$0] } as? MistakeCollector
    }
}

extension MistakeCollector? {
    /// Decodes a part; if mistakes are collected, a mistake yields `placeholder`.
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
    /// Decodes a part; if mistakes are collected, a mistake yields `placeholder`.
    func collecting<Value>(_ placeholder: @autoclosure () -> Value, _ read: () throws -> Value) throws -> Value {
        try MistakeCollector.of(self).collecting(placeholder(), read)
    }

    /// Decodes an object whose fields depend on each other.
    ///
    /// The object is checked if no field has a mistake, and `read` is called if all checks succeed.
    ///
    /// - Parameter checks: Returns the checks of an object; `prefix` precedes the names of its fields in paths.
    func collecting<Object, Value>(
        _ placeholder: @autoclosure () -> Value, _ fields: FieldTable<Object>,
        checks: (_ object: Object, _ prefix: String) -> [RuleCheck], _ read: (Object) throws -> Value
    ) throws -> Value {
        try collecting(placeholder()) {
            let object = try fields.read(self)
            let path = DecodingError.path(codingPath)
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
    /// Returns all mistakes in a JSON text, without places, at most a hundred.
    ///
    /// A rule is not checked if the part that it concerns could not be decoded.
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

    /// Whether a mistake at a path hides the name or address of a device or host, to which other parts may refer.
    private static func hidesName(_ path: String) -> Bool {
        let parts = path.split(separator: ".")
        guard let list = parts.first, list.hasPrefix("devices") || list.hasPrefix("hosts") else { return false }
        return parts.count == 1 || ["name", "address", DeviceGroup.countField].contains(String(parts[1]))
    }

    /// Checks the rules of the decoded parts.
    private func collectBrokenRules(in collector: MistakeCollector) {
        // The mistakes of the decoding, without those of broken rules.
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
