import ArgumentParser
import CoreBluetoothPackage

/// `bluectl rssi`: the signal strength of a link.
struct RSSICommand: RadioCommand {
    static let configuration = CommandConfiguration(
        commandName: "rssi",
        abstract: "Connect and print the signal strength of the link, in dBm.")

    @Argument(help: DeviceArgument.help)
    var device: DeviceArgument

    @Option(help: ArgumentHelp("So many readings; 0 goes on until Ctrl-C.", valueName: "N"))
    var count = 1

    @Option(help: ArgumentHelp("The time between two readings.", valueName: "S"))
    var interval = Seconds(1)

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    var endsByInterruption: Bool { count == 0 }

    func validate() throws {
        if count < 0 { throw ValidationError("--count takes a number from 0 on, not \(count)") }
    }

    func perform(in session: Session) async throws {
        let peripheral = try await session.find(device.query)
        try await session.connect(peripheral)
        var left = count
        while true {
            let rssi = try await session.readRSSI(of: peripheral)
            if session.console.isJSON {
                session.console.print(
                    json: RSSIRecord(
                        identifier: peripheral.identifier.uuidString, rssi: rssi, backend: session.emulatedBackend))
            } else {
                session.console.print("\(rssi) dBm")
            }
            left -= 1
            if left == 0 { return }
            try await session.wait(for: interval.duration)
        }
    }
}

/// A signal strength as JSON.
struct RSSIRecord: Encodable, Equatable {
    let identifier: String
    /// dBm.
    let rssi: Int
    /// Only where the radio is not a real one.
    let backend: String?
}
