import ArgumentParser
import AsyncBluetooth
import CoreBluetoothClasses
import Foundation

struct ShellCommands: ParsableCommand {
    /// The commands that do not use the shell's backend.
    static let withoutBackend: Set<String> = ["doctor", "check"]

    static let configuration = CommandConfiguration(
        commandName: "",
        abstract: "One command per line; connections last until \"disconnect\" or \"exit\".",
        usage: "COMMAND",
        discussion: """
            "help COMMAND" describes a command. Quotes enclose words with spaces; "." as DEVICE means the device \
            that was connected last. Ctrl-C ends a command, Ctrl-D or "exit" the shell; Tab completes, and the arrow \
            keys recall earlier lines.
            """,
        subcommands: [
            ScanCommand.self, ConnectCommand.self, DisconnectCommand.self, DevicesCommand.self, InfoCommand.self,
            ExploreCommand.self, ReadCommand.self, WriteCommand.self, SubscribeCommand.self, WatchCommand.self,
            RSSICommand.self, UARTCommand.self, L2CAPCommand.self, MonitorCommand.self, ServeCommand.self,
            AdvertiseCommand.self, PairCommand.self, UnpairCommand.self, AdaptersCommand.self, DoctorCommand.self,
            ExitCommand.self,
        ])
}

/// The command `connect`, which exists only in a shell, because only there a connection outlives its command.
struct ConnectCommand: BackendCommand {
    static let configuration = CommandConfiguration(
        commandName: "connect", abstract: "Connect to a device and keep the connection.")

    @Argument(help: DeviceQuery.help)
    var device: DeviceQuery

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    func perform(in role: CentralRole) async throws {
        let peripheral = try await role.find(device)
        try await role.connect(peripheral)
        // The discovery lets the names of the characteristics complete.
        _ = try await role.discover(peripheral)
        role.console.show(
            DeviceRecord(peripheral).identity.merging(["event": "connected"]),
            ["Connected to \(DeviceRecord(peripheral).place)"])
    }
}

struct DisconnectCommand: BackendCommand {
    static let configuration = CommandConfiguration(
        commandName: "disconnect", abstract: "Close the connection to a device, or without DEVICE all connections.")

    @Argument(help: DeviceQuery.help)
    var device: DeviceQuery?

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    func perform(in role: CentralRole) async throws {
        let connected = role.peripherals.filter { $0.state == .connected }
        let meant = connected.filter { peripheral in
            guard let query = device else { return true }
            return query == .last ? peripheral === role.peripheral : query.matches(DeviceRecord(peripheral))
        }
        if let device, meant.isEmpty { throw Failure(.failed, "there is no connection to \(device.text)") }
        for peripheral in meant {
            try await role.disconnect(peripheral)
            role.console.show(
                DeviceRecord(peripheral).identity.merging(["event": "disconnected"]),
                ["Disconnected from \(DeviceRecord(peripheral).place)"])
        }
    }
}

/// The command `exit`, for the list of commands and its help; the shell itself ends.
struct ExitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "exit", abstract: "Close all connections and end the shell.", aliases: ["quit"])
}
