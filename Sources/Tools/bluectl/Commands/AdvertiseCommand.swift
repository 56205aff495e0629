import ArgumentParser
import BluetoothBackend
import CoreBluetoothClasses

struct AdvertiseCommand: BackendCommand {
    typealias Role = PeripheralRole

    static let configuration = CommandConfiguration(
        commandName: "advertise",
        abstract: "Advertise a name, services and data, connectable.",
        discussion: """
            Advertises until Ctrl-C, or for --duration. A packet has room for 28 bytes, and for 10 more of the name \
            (a short UUID takes 2 bytes, a long one 16): a name that is too long is shortened, and UUIDs that do not \
            fit are omitted. Manufacturer data and service data come first: each takes 2 bytes for its header, and \
            service data the bytes of its UUID. The UUIDs have no services behind them; "bluectl serve" publishes \
            services.
            """)

    var endsByInterruption: Bool { true }

    @Option(help: ArgumentHelp("The local name.", valueName: "N"))
    var name: String?

    @Option(help: ArgumentHelp("The UUID of a service; may be repeated.", valueName: "UUID"))
    var service: [BluetoothUUID] = []

    @Option(
        help: ArgumentHelp(
            "A company identifier, least significant byte first, and the company's data, in hex: 9904 0512.",
            valueName: "HEX"))
    var manufacturerData: String?

    @Option(help: ArgumentHelp("Data of a service, in hex: FCD2=4002CA09; may be repeated.", valueName: "UUID=HEX"))
    var serviceData: [ServiceDataArgument] = []

    @Option(help: ArgumentHelp("End after this time.", valueName: "S"))
    var duration: Seconds?

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    func validate() throws { _ = try usage { () throws(Failure) in try advertised() } }

    func advertised() throws(Failure) -> AdvertisedContent {
        var content = AdvertisedContent(name: name, services: service.map { CBUUID($0) })
        if let manufacturerData {
            let data = try HexText.data(manufacturerData)
            guard data.count >= 2 else {
                throw Failure(.usage, "--manufacturer-data must begin with a company identifier of two bytes")
            }
            content.manufacturerData = data
        }
        for argument in serviceData { content.serviceData[CBUUID(argument.uuid)] = try HexText.data(argument.hex) }
        let bytes = CBPeripheralManager.advertisedBytes(
            manufacturerData: content.manufacturerData, serviceData: content.serviceData)
        guard bytes <= 28 else {
            throw Failure(.usage, "the data need \(bytes) bytes, but an advertisement has room for 28")
        }
        return content
    }

    func perform(in role: PeripheralRole) async throws {
        let content = try advertised()
        try await role.advertise(content)
        ServerEventPrinter(console: role.console, name: name ?? "").advertising(content)
        try await role.wait(for: duration?.duration)
    }
}

/// The argument UUID=HEX.
struct ServiceDataArgument: ExpressibleByArgument, Equatable, Sendable {
    let uuid: BluetoothUUID
    let hex: String

    init?(argument: String) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let uuid = BluetoothUUID(String(parts[0])) else { return nil }
        self.uuid = uuid
        hex = String(parts[1])
    }
}

struct AdvertisedContent {
    var name: String?
    var services: [CBUUID] = []
    /// A company identifier, least significant byte first, and the company's data.
    var manufacturerData: Data?
    var serviceData: [CBUUID: Data] = [:]
}
