public import BluetoothSupport

/// A whole world as data: the content of a world file in JSON.
///
/// Its schema is `Schemas/world.schema.json`.
public struct WorldDescription: Hashable, Sendable, WorldFileObject {
    /// The field with the files that a file includes.
    static let includeField = "include"

    static let fields = FieldTable(
        WorldDescription(),
        // A field for editors.
        .custom("$schema", read: { _, _ in }, write: { _ in nil as String? }),
        // Files are joined before the world is decoded.
        .custom(
            includeField,
            read: { _, field in
                guard field.container.contains(FieldName(field.name)) else { return }
                throw field.error("only a file can include files: a text has no folder in which they are")
            }, write: { _ in nil as [String]? }),
        .value("seed", \.seed),
        .value("preset", \.preset, .name("presets", of: EmulatorPreset.allCases)),
        .value("advertisingCollides", \.advertisingCollides),
        .value("hosts", \.hosts),
        .custom(
            "devices",
            read: { world, field in
                let groups: [DeviceGroup] = try field.value() ?? []
                guard groups.reduce(0, { $0 + ($1.count ?? 1) }) <= DeviceGroup.maximumDevices else {
                    throw field.error("a world has \(DeviceGroup.maximumDevices) devices or fewer")
                }
                world.devices = groups.flatMap(\.devices)
                field.collector?.deviceEntries = groups.enumerated().flatMap { index, group in
                    Array(repeating: index, count: group.count ?? 1)
                }
            },
            write: { $0.devices.isEmpty ? nil : $0.devices }),
        .value("script", \.script))

    /// The seed of all random decisions; nil is 1, unless the emulator is created with a seed.
    public var seed: UInt64?
    /// The settings; nil uses the default ones, unless the emulator is created with settings.
    public var preset: EmulatorPreset?
    /// Whether advertising packets that overlap on a channel destroy each other, even if the settings do not enable
    /// this.
    ///
    /// See ``EmulatorConfiguration/advertisingCollides``.
    public var advertisingCollides: Bool
    /// The hosts.
    ///
    /// Every world has a host named "default".
    public var hosts: [HostDescription]
    /// The devices.
    public var devices: [PeripheralDescription]
    /// The actions on devices, hosts and packets as time passes: at most 10,000 steps, in any order.
    ///
    /// Steps at the same instant happen in the order of the script.
    public var script: [ScriptStep]

    /// Creates a description of a world.
    public init(
        hosts: [HostDescription] = [], devices: [PeripheralDescription] = [], seed: UInt64? = nil,
        preset: EmulatorPreset? = nil, advertisingCollides: Bool = false, script: [ScriptStep] = []
    ) {
        self.script = script
        self.seed = seed
        self.preset = preset
        self.advertisingCollides = advertisingCollides
        self.hosts = hosts
        self.devices = devices
    }

    /// Decodes JSON, and checks the world.
    ///
    /// - Throws: ``DescriptionError`` naming the place, the path and the rule.
    public init(json: Data) throws(DescriptionError) {
        do throws(DescriptionError) {
            try self.init(unplaced: json)
        } catch {
            throw error.located(in: Array(json))
        }
    }

    /// Decodes JSON, and checks the world; errors have no place.
    init(unplaced json: Data, _ recordings: RecordingFiles? = nil) throws(DescriptionError) {
        try self.init(worldFile: json, recordings)
        do throws(DescriptionError) {
            try validate()
        } catch {
            throw DescriptionError(Self.pathInFile(error.path, of: json), error.rule)
        }
    }

    /// Reads a file or a pipe of JSON, with the files that it includes, and checks the world.
    ///
    /// - Throws: ``DescriptionError`` naming the file, the place, the path and the rule.
    public init(contentsOfFile file: String) throws(DescriptionError) {
        let files: WorldFiles
        do {
            let text = try InputFile.contents(of: file, atMost: WorldFiles.maximumBytes)
            files = try WorldFiles(file, text: Data(text), format: .json(root: file))
        } catch let error as InputFileError {
            throw DescriptionError("", "the file cannot be read: \(error.reason)").inFile(file)
        } catch {
            throw DescriptionError(reading: error)
        }
        self = try files.world()
    }

    /// Encodes the world as JSON, with sorted keys.
    public func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(self).printableJSON
    }

    /// Checks the world.
    ///
    /// - Throws: ``DescriptionError`` naming the path and the rule.
    public func validate() throws(DescriptionError) { try checks.run() }

    /// The checks of all rules.
    var checks: [RuleCheck] {
        let devices = addressedDevices
        var checks: [RuleCheck] = []
        for (path, device) in devices.located(at: "devices") {
            checks += device.checks(path: path)
            checks.append(
                RuleCheck("\(path).handler") { () throws(DescriptionError) in
                    try device.validateParameters(path: path + ".")
                })
        }
        checks.append(
            RuleCheck("devices") { () throws(DescriptionError) in
                try requireUnique(
                    devices, "devices", "address", { "another device has the address \($0)" }, \.effectiveAddress)
            })
        for (path, host) in hosts.located(at: "hosts") { checks += host.checks(path: path, devices: devices) }
        checks.append(
            RuleCheck("hosts") { () throws(DescriptionError) in
                try requireUnique(hosts, "hosts", "name", { "another host has the name \"\($0)\"" }, \.name)
            })
        checks.append(
            RuleCheck(
                "script", "a script has \(ScriptStep.maximumCount) steps or fewer",
                script.count <= ScriptStep.maximumCount))
        for (path, step) in script.located(at: "script") {
            checks.append(
                RuleCheck(path) { () throws(DescriptionError) in
                    try step.validate(path: path, devices: devices, hosts: hosts)
                })
        }
        return checks
    }
}
