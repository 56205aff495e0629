import ArgumentParser
import CoreBluetoothPackage

/// `bluectl advertise`: a name and services on the air, without anything behind them.
struct AdvertiseCommand: RadioCommand {
    typealias Role = PeripheralSession

    static let configuration = CommandConfiguration(
        commandName: "advertise",
        abstract: "Advertise a name and services, connectable.",
        discussion: """
            Goes on until Ctrl-C, or for --duration. A packet has room for 28 bytes of both, and 10 more for the name \
            (2 bytes a short UUID, 16 a long one): a name that is too long is shortened, and UUIDs that do not fit are \
            left out. "bluectl serve" has services behind the UUIDs.
            """)

    static let endsByInterruption = true

    @Option(help: ArgumentHelp("The local name.", valueName: "N"))
    var name: String?

    @Option(help: ArgumentHelp("The UUID of a service; may be repeated.", valueName: "UUID"))
    var service: [ServiceArgument] = []

    @Option(help: ArgumentHelp("Ends by itself after this time.", valueName: "S"))
    var duration: Seconds?

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    func perform(in session: PeripheralSession) async throws {
        try await session.advertise(name: name, services: service.map { CBUUID($0.uuid) })
        session.showAdvertising(name: name, services: service.map { CBUUID($0.uuid) })
        try await session.wait(for: duration?.duration)
    }
}

extension PeripheralSession {
    /// Prints that the device is on the air.
    func showAdvertising(name: String?, services: [CBUUID]) {
        guard !console.isJSON else {
            var record = ServeRecord("advertising", backend: emulatedBackend)
            record.name = name
            if !services.isEmpty { record.services = services.map(\.uuidString) }
            return console.print(json: record)
        }
        let list = services.isEmpty ? "" : " with " + services.map(AttributeText.label).joined(separator: ", ")
        console.print("Advertising" + (name.map { " as \"\(PrintableText.of($0))\"" } ?? "") + list)
    }
}
