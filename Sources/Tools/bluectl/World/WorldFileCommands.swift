#if Emulator
import ArgumentParser
import BluetoothEmulator
import Foundation

/// A file that a command reads.
struct WorldFileArgument: ParsableArguments, Sendable {
    @Argument(
        help: ArgumentHelp("A file that describes emulated devices, in JSON or YAML.", valueName: "FILE"),
        completion: .file(extensions: ["json", "yaml", "yml"]))
    var file: String
}

struct WorldCheckCommand: AsyncParsableCommand, Sendable {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Report all mistakes of a world file.",
        discussion: """
            Prints one line for each mistake, with line and column, or with --json an object; up to 100. The exit \
            status is 1 if there is one. If a file is neither JSON nor YAML, only the first mistake is reported.
            """)

    @OptionGroup
    var world: WorldFileArgument

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    func validate() throws { try global.refuseDeviceOptions() }

    @MainActor
    func run() async throws {
        let console = Console(global)
        let file = WorldFile(path: world.file)
        let contents = try file.contents()
        let mistakes = contents.mistakes()
        for mistake in mistakes {
            let fields: JSONFields = [
                "file": mistake.file ?? file.path, "line": mistake.place?.line, "column": mistake.place?.column,
                "path": mistake.path, "rule": mistake.rule,
            ]
            console.show(fields, [contents.failure(for: mistake).description])
        }
        guard mistakes.isEmpty else {
            let count = mistakes.count == 1 ? "1 mistake" : "\(mistakes.count) mistakes"
            throw Failure(.failed, "\(file.path): \(count)")
        }
        let description = try contents.description()
        let (devices, steps) = (description.devices.count, description.script.count)
        let parts = [
            devices == 1 ? "1 device" : "\(devices) devices", steps == 1 ? "1 step" : "\(steps) steps",
        ]
        console.show(
            ["file": file.path, "devices": devices, "steps": steps],
            [PrintableText.of("\(file.path): no mistakes; \(parts.joined(separator: ", "))")])
    }
}

struct WorldConvertCommand: AsyncParsableCommand, Sendable {
    static let configuration = CommandConfiguration(
        commandName: "convert",
        abstract: "Print a world file in JSON, which every program reads.",
        discussion: """
            Included files become part of the result. The fields are sorted, and comments are lost. A file with a \
            mistake is not converted.
            """)

    @OptionGroup
    var world: WorldFileArgument

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    func validate() throws {
        if global.timestamps { throw ValidationError("a file has no times: omit --timestamps") }
        try global.refuseDeviceOptions()
    }

    @MainActor
    func run() async throws {
        let contents = try WorldFile(path: world.file).contents()
        _ = try contents.description()
        Console(global).print(try contents.prettyJSON())
    }
}

struct WorldSchemaCommand: AsyncParsableCommand, Sendable {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Print the JSON schema of world files, for editors.")

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    func validate() throws {
        if global.timestamps { throw ValidationError("a schema has no times: omit --timestamps") }
        try global.refuseDeviceOptions()
    }

    @MainActor
    func run() async throws {
        let schema = String(decoding: PackageResources.world_schema_json, as: UTF8.self)
        Console(global).print(schema.hasSuffix("\n") ? String(schema.dropLast()) : schema)
    }
}
#endif
