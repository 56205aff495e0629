#if Emulator
import ArgumentParser

struct WorldCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "world",
        abstract: "Show emulated devices to other programs, as a BlueZ of their own; check and convert world files.",
        discussion: """
            Programs that use BlueZ, in any language and unchanged, find the devices of FILE on a message bus. No root \
            and no Bluetooth hardware are needed; dbus-daemon must be installed.
            """,
        subcommands: subcommands)

    private static var subcommands: [any ParsableCommand.Type] {
        let files: [any ParsableCommand.Type] = [
            WorldCheckCommand.self, WorldConvertCommand.self, WorldSchemaCommand.self,
        ]
        #if BlueZ && os(Linux)
        return [WorldRunCommand.self, WorldServeCommand.self] + files
        #else
        return files
        #endif
    }
}
#endif
