import ArgumentParser
import AsyncBluetooth
import CoreBluetoothClasses

struct RSSICommand: BackendCommand {
    static let configuration = CommandConfiguration(
        commandName: "rssi",
        abstract: "Connect and print the signal strength of the link, in dBm.")

    @Argument(help: DeviceQuery.help)
    var device: DeviceQuery

    @Option(help: ArgumentHelp("The number of readings; 0 for no limit.", valueName: "N"))
    var count = 1

    @Option(help: ArgumentHelp("The interval between readings.", valueName: "S"))
    var interval = Seconds(1)

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    var endsByInterruption: Bool { count == 0 }

    func validate() throws {
        if count < 0 { throw ValidationError("--count must be at least 0, not \(count)") }
    }

    func perform(in role: CentralRole) async throws {
        let peripheral = try await role.find(device)
        try await role.connect(peripheral)
        // A reading would reconnect after a lost link; this listing ends with its link.
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { throw await Failure(try await peripheral.waitUntilDisconnected()) }
            group.addTask { try await list(peripheral, in: role) }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    @MainActor
    private func list(_ peripheral: Peripheral, in role: CentralRole) async throws {
        var left = count
        while true {
            let rssi = try await role.readRSSI(of: peripheral)
            role.console.show(["identifier": peripheral.identifier.uuidString, "rssi": rssi], ["\(rssi) dBm"])
            left -= 1
            if left == 0 { return }
            try await role.wait(for: interval.duration)
        }
    }
}
