import ArgumentParser

/// The root of the commands.
struct Bluectl: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bluectl",
        abstract: "Bluetooth Low Energy from the command line: scan, explore, read, write, subscribe, serve, pair.",
        usage: """
            bluectl [--backend bluez|emulator|auto] [--adapter A] [--world FILE] [--timeout SECONDS] [--json] \
            [--timestamps] [--verbose] COMMAND
            """,
        discussion: """
            The options of "bluectl help COMMAND" may stand before the command as well as after it. A device is named \
            by its identifier, address or name. Real adapters are used through BlueZ; "--backend emulator" uses \
            emulated devices, and "bluectl demo" shows what they do.

            Exit status: 0 done, 1 failed, 2 usage, 3 timed out.
            """,
        version: "0.1.0",
        subcommands: [
            DemoCommand.self, DoctorCommand.self, ScanCommand.self, DevicesCommand.self, InfoCommand.self,
            ExploreCommand.self, ReadCommand.self, WriteCommand.self, SubscribeCommand.self, WatchCommand.self,
            RSSICommand.self, UARTCommand.self, L2CAPCommand.self, MonitorCommand.self, ServeCommand.self,
            AdvertiseCommand.self, PairCommand.self, UnpairCommand.self, AdaptersCommand.self, ShellCommand.self,
            CompletionsCommand.self,
        ])
}
