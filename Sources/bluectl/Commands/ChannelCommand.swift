import ArgumentParser
import CoreBluetoothPackage

/// `bluectl channel`: an L2CAP channel as a pipe.
struct ChannelCommand: RadioCommand {
    static let configuration = CommandConfiguration(
        commandName: "channel",
        abstract: "Open an L2CAP channel: standard input goes to the device, what it sends to standard output.",
        discussion: """
            Bytes go as they are. PSM is the number of the channel, 37 or 0x0025. It ends when the device closes the \
            channel, and after the end of the input as --count and --quiet say. With --json what comes is \
            {"received"} in hex.
            """,
        aliases: ["l2cap"])

    @Argument(help: DeviceArgument.help)
    var device: DeviceArgument

    @Argument(help: ArgumentHelp("The number of the channel.", valueName: "PSM"))
    var psm: PSMArgument

    @OptionGroup(title: "End")
    var end: EndOptions

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    func perform(in session: Session) async throws {
        let peripheral = try await session.find(device.query)
        try await session.connect(peripheral)
        let streams = try await session.openChannel(psm.number, at: peripheral)
        let console = ByteConsole(session, ending: end.ending) { session.showReceived($0) }
        streams.onBytes = { console.receive($0) }
        streams.onEnd = { console.stop(nil) }
        streams.open()
        defer { streams.close() }
        try await console.run { try await streams.send($0) }
    }
}

/// When a pipe to a device ends after its input has.
struct EndOptions: ParsableArguments, Sendable {
    @Option(help: ArgumentHelp("End once so many bytes have come; each within --timeout.", valueName: "BYTES"))
    var count: Int?

    @Option(
        help: ArgumentHelp("Without --count: end when nothing has come for this long after the input.", valueName: "S"))
    var quiet = Seconds(1)

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count takes a number from 1 on, not \(count)") }
    }

    var ending: ByteConsole.Ending { ByteConsole.Ending(count: count, quiet: quiet.duration) }
}

/// PSM on the command line: 1...65535, decimal or with `0x`.
struct PSMArgument: ExpressibleByArgument, Equatable, Sendable {
    let number: CBL2CAPPSM

    init?(argument: String) {
        let isHex = argument.lowercased().hasPrefix("0x")
        guard let number = isHex ? UInt16(argument.dropFirst(2), radix: 16) : UInt16(argument), number > 0 else {
            return nil
        }
        self.number = number
    }
}

extension Session {
    /// Opens a channel; its streams are still closed.
    fileprivate func openChannel(_ psm: CBL2CAPPSM, at peripheral: CBPeripheral) async throws -> ChannelStreams {
        openedChannel = nil
        do {
            try await perform(.channelOpen) { peripheral.openL2CAPChannel(psm) }
        } catch let failure as Failure where failure.status == .failed {
            throw Failure(.failed, "cannot open the channel \(psm): \(failure.description)")
        }
        guard let openedChannel else { throw Failure(.failed, "cannot open the channel \(psm)") }
        return ChannelStreams(openedChannel, session: self)
    }

    /// Prints bytes as they are, or in hex.
    func showReceived(_ data: Data) {
        guard !console.isJSON else {
            return console.print(json: ReceivedRecord(received: HexText.of(data), backend: emulatedBackend))
        }
        console.put(data)
    }
}

/// What came over a channel or a line, as JSON.
struct ReceivedRecord: Encodable, Equatable {
    /// Hex.
    let received: String
    /// Only where the radio is not a real one.
    let backend: String?
}
