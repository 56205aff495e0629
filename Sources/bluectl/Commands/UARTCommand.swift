import ArgumentParser
import AsyncBluetooth
import BluetoothProfiles
import CoreBluetoothPackage

/// `bluectl uart`: a serial line to a device, over the service Nordic UART or one like it.
struct UARTCommand: BackendCommand {
    static let configuration = CommandConfiguration(
        commandName: "uart",
        abstract: "Talk to a device over Nordic UART: standard input goes to it, what it sends to standard output.",
        discussion: """
            Bytes go as they are; at a terminal each line ends as --line-ending says. It ends when the connection does, \
            and after the end of the input (Ctrl-D at a terminal) as --count and --quiet say. Other services that work \
            alike are named by --receive, what the device receives, and --transmit, what it sends. With --json what \
            comes is {"received"} in hex.
            """,
        aliases: ["console"])

    /// What a line at a terminal ends with.
    enum LineEnding: String, CaseIterable, ExpressibleByArgument, Sendable {
        case lf, cr, crlf, none

        /// Text with this ending in place of each line feed.
        func applied(to data: Data) -> Data {
            let ending: [UInt8] =
                switch self {
                case .lf: [10]
                case .cr: [13]
                case .crlf: [13, 10]
                case .none: []
                }
            return Data(data.flatMap { $0 == 10 ? ending : [$0] })
        }
    }

    @Argument(help: DeviceArgument.help)
    var device: DeviceArgument

    @Option(
        help: ArgumentHelp("What the device receives: a characteristic that is written.", valueName: "CHARACTERISTIC"))
    var receive: String?

    @Option(help: ArgumentHelp("What the device sends: a characteristic that notifies.", valueName: "CHARACTERISTIC"))
    var transmit: String?

    @Option(help: ArgumentHelp("What a line at a terminal ends with: lf, cr, crlf or none.", valueName: "E"))
    var lineEnding = LineEnding.lf

    @OptionGroup(title: "End")
    var end: EndOptions

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    func validate() throws { _ = try usage { () throws(Failure) in try paths() } }

    /// What is written, and what notifies.
    private func paths() throws(Failure) -> (receive: AttributePath, transmit: AttributePath) {
        (
            try AttributePath([receive ?? NordicUARTService.receive.uuid.uuidString]),
            try AttributePath([transmit ?? NordicUARTService.transmit.uuid.uuidString])
        )
    }

    func perform(in role: CentralRole) async throws {
        let paths = try paths()
        let (peripheral, receive) = try await role.locate(paths.receive, on: device.query)
        let transmit = try await role.locate(paths.transmit, at: peripheral)
        let values = try await role.subscribe(to: [transmit], of: peripheral)
        let type: CBCharacteristicWriteType =
            receive.properties.contains(.writeWithoutResponse) ? .withoutResponse : .withResponse
        let length = max(1, min(512, try await role.maximumWriteLength(of: peripheral, for: type)))
        let isTyped = StandardInput.shared.isTerminal
        let pipe = BytePipe(end.ending(within: role.limit)) { role.showReceived($0) }
        try await pipe.run {
            try await values.next()?.value
        } send: { data in
            let data = isTyped ? lineEnding.applied(to: data) : data
            for start in stride(from: 0, to: data.count, by: length) {
                let piece = Data(data.dropFirst(start).prefix(length))
                try await role.write(piece, to: receive, of: peripheral, type: type)
            }
        }
    }
}
