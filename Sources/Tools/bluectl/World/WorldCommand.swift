#if Emulator
import ArgumentParser

struct WorldCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "world",
        abstract: "Serve emulated devices to other programs as BlueZ; check and convert world files.",
        discussion: """
            Programs that use BlueZ, in any language and unchanged, find the devices of FILE on a message bus. No root \
            and no Bluetooth hardware are needed; dbus-daemon must be installed. "world dongle" serves them, as root, to \
            this machine's own kernel and BlueZ.

            While "world serve" runs, the other commands show and change its world: distances, values, faults, power.
            """,
        subcommands: subcommands)

    private static var subcommands: [any ParsableCommand.Type] {
        let files: [any ParsableCommand.Type] = [
            WorldCheckCommand.self, WorldConvertCommand.self, WorldSchemaCommand.self,
        ]
        #if os(Linux)
        let control: [any ParsableCommand.Type] = [
            WorldShowCommand.self, WorldWatchCommand.self, WorldAddCommand.self, WorldRemoveCommand.self,
            WorldMoveCommand.self, WorldRenameCommand.self, WorldAdvertiseCommand.self, WorldSetCommand.self,
            WorldNotifyCommand.self, WorldDisconnectCommand.self, WorldFaultCommand.self, WorldPasskeyCommand.self,
            WorldPowerCommand.self, WorldPlugCommand.self, WorldPauseCommand.self, WorldContinueCommand.self,
            WorldRateCommand.self, WorldStepCommand.self, WorldCaptureCommand.self, WorldTraceCommand.self,
            WorldSaveCommand.self,
        ]
        #else
        let control: [any ParsableCommand.Type] = []
        #endif
        #if BlueZ && os(Linux)
        return [WorldRunCommand.self, WorldServeCommand.self, WorldDongleCommand.self] + control + files
        #else
        return control + files
        #endif
    }
}
#endif
