import ArgumentParser
import CoreBluetoothPackage

/// `bluectl monitor`: what happens on the radio.
struct MonitorCommand: BackendCommand {
    static let configuration = CommandConfiguration(
        commandName: "monitor",
        abstract: "Print events as they happen: states of the radio, discoveries, connections.",
        discussion: """
            One line each: time, event (state, discovered, connected, disconnected), and for a device its identifier, \
            address, RSSI, name and services, separated by tabs. Connections are those of any program to a device \
            that was discovered, or that offers Generic Access or a --service. Goes on until Ctrl-C, or for \
            --duration, also while the radio is off.
            """)

    var endsByInterruption: Bool { true }

    @Option(help: ArgumentHelp("Only devices that advertise this service; may be repeated.", valueName: "UUID"))
    var service: [ServiceArgument] = []

    @Option(help: ArgumentHelp("Ends by itself after this time.", valueName: "S"))
    var duration: Seconds?

    @Flag(help: "Report every advertisement, not only those that add something.")
    var duplicates = false

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    func perform(in role: CentralRole) async throws {
        let monitor = Monitor(role.backend, services: service.map(\.uuid), allowsDuplicates: duplicates) { record in
            if role.console.isJSON {
                role.console.print(json: record)
            } else {
                role.console.print(record.line)
            }
        }
        defer { monitor.stop() }
        try await role.wait(for: duration?.duration)
    }
}
