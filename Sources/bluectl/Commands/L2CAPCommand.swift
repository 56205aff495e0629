import ArgumentParser
import AsyncBluetooth
import CoreBluetoothPackage

/// `bluectl channel`: an L2CAP channel as a pipe.
struct L2CAPCommand: BackendCommand {
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

    func perform(in role: CentralRole) async throws {
        let peripheral = try await role.find(device.query)
        try await role.connect(peripheral)
        let channel = try await role.openChannel(psm.number, at: peripheral)
        defer { channel.close() }
        let pipe = BytePipe(end.ending(within: role.limit)) { role.showReceived($0) }
        try await pipe.run {
            try await channel.read()
        } send: { data in
            try await role.step("waiting for room in the channel") { try await channel.write(data) }
        }
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

    /// - Parameter limit: How long nothing may come, where a count is wanted.
    func ending(within limit: Duration) -> BytePipe.Ending {
        BytePipe.Ending(count: count, quiet: quiet.duration, limit: limit)
    }
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

extension CentralRole {
    /// Opens a channel.
    fileprivate func openChannel(_ psm: CBL2CAPPSM, at peripheral: Peripheral) async throws -> ByteChannel {
        do {
            return try await step("opening the channel") { try await peripheral.openChannel(psm) }
        } catch let failure as Failure where failure.status == .failed {
            throw Failure(.failed, "cannot open the channel \(psm): \(failure.description)")
        }
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
