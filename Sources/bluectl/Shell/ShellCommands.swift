import ArgumentParser

/// The commands of a shell.
struct ShellCommands: ParsableCommand {
    /// Those that look at the system, and not through the shell's radio.
    static let withoutRadio: Set<String> = ["doctor", "check"]

    static let configuration = CommandConfiguration(
        commandName: "",
        abstract: "One command a line; connections last until \"disconnect\" or \"exit\".",
        usage: "COMMAND",
        discussion: """
            "help COMMAND" tells the rest. Words with spaces stand in quotes; "." as DEVICE means the one that was \
            connected last. Ctrl-C ends a command, Ctrl-D or "exit" the shell, Tab completes, and the arrows find \
            earlier lines.
            """,
        subcommands: [
            ScanCommand.self, ConnectCommand.self, DisconnectCommand.self, DevicesCommand.self, InfoCommand.self,
            ExploreCommand.self, ReadCommand.self, WriteCommand.self, SubscribeCommand.self, WatchCommand.self,
            RSSICommand.self, UARTCommand.self, L2CAPCommand.self, MonitorCommand.self, ServeCommand.self,
            AdvertiseCommand.self, PairCommand.self, UnpairCommand.self, AdaptersCommand.self, DoctorCommand.self,
            ExitCommand.self,
        ])
}
