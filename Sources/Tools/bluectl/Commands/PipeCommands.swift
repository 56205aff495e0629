import ArgumentParser
import AsyncBluetooth
import BluetoothProfiles
import BluetoothValues
import CoreBluetoothClasses
import Foundation

struct UARTCommand: BackendCommand {
    static let configuration = CommandConfiguration(
        commandName: "uart",
        abstract: "Connect the Nordic UART service of a device with standard input and output.",
        discussion: """
            Bytes are sent unchanged, except that each line that is typed at a terminal ends as --line-ending \
            specifies. The command ends when the connection ends, or after the end of the input (Ctrl-D at a \
            terminal) as --count and --quiet specify. For another service that works alike, --receive names the \
            characteristic to write to, and --transmit the one that notifies. With --json, received bytes are \
            printed as {"received"} in hex.
            """,
        aliases: ["console"])

    /// The end of a line that is typed at a terminal.
    enum LineEnding: String, CaseIterable, ExpressibleByArgument, Sendable {
        case lf, cr, crlf, none

        /// Returns text with this ending in place of each line feed.
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

    @Argument(help: DeviceQuery.help)
    var device: DeviceQuery

    @Option(
        help: ArgumentHelp("The characteristic to write to.", valueName: "CHARACTERISTIC"))
    var receive: String?

    @Option(help: ArgumentHelp("The characteristic that notifies.", valueName: "CHARACTERISTIC"))
    var transmit: String?

    @Option(help: ArgumentHelp("The end of a line that is typed at a terminal: lf, cr, crlf or none.", valueName: "E"))
    var lineEnding = LineEnding.lf

    @OptionGroup(title: "End")
    var end: EndOptions

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    func validate() throws { _ = try usage { () throws(Failure) in try paths() } }

    private func paths() throws(Failure) -> (receive: AttributePath, transmit: AttributePath) {
        (
            try AttributePath([receive ?? NordicUARTService.receive.uuid.uuidString]),
            try AttributePath([transmit ?? NordicUARTService.transmit.uuid.uuidString])
        )
    }

    func perform(in role: CentralRole) async throws {
        let paths = try paths()
        let (peripheral, receive) = try await role.locate(paths.receive, on: device)
        let transmit = try await role.locate(paths.transmit, at: peripheral)
        let values = try await role.subscribe(to: [transmit], of: peripheral)
        let type: CBCharacteristicWriteType =
            receive.properties.contains(.writeWithoutResponse) ? .withoutResponse : .withResponse
        let length = max(1, min(ATTLimits.longestValue, try await role.maximumWriteLength(of: peripheral, for: type)))
        let isTyped = StandardInput.shared.isTerminal
        let pipe = BytePipe(end, limit: role.limit) { role.showReceived($0) }
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

struct L2CAPCommand: BackendCommand {
    static let configuration = CommandConfiguration(
        commandName: "channel",
        abstract: "Open an L2CAP channel, and connect it with standard input and output.",
        discussion: """
            Bytes are sent unchanged. PSM is the number of the channel, such as 37 or 0x0025. The command ends when \
            the device closes the channel, or after the end of the input as --count and --quiet specify. With \
            --json, received bytes are printed as {"received"} in hex.
            """,
        aliases: ["l2cap"])

    @Argument(help: DeviceQuery.help)
    var device: DeviceQuery

    @Argument(help: ArgumentHelp("The number of the channel.", valueName: "PSM"))
    var psm: PSMArgument

    @OptionGroup(title: "End")
    var end: EndOptions

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    func perform(in role: CentralRole) async throws {
        let peripheral = try await role.find(device)
        try await role.connect(peripheral)
        let channel = try await role.openChannel(psm.number, at: peripheral)
        defer { channel.close() }
        let pipe = BytePipe(end, limit: role.limit) { role.showReceived($0) }
        try await pipe.run {
            try await channel.read()
        } send: { data in
            try await role.step("waiting for room in the channel") { try await channel.write(data) }
        }
    }
}

/// The conditions under which a pipe to a device ends after its input.
struct EndOptions: ParsableArguments, Sendable {
    @Option(
        help: ArgumentHelp("End after this many bytes; the device may pause for at most --timeout.", valueName: "BYTES")
    )
    var count: Int?

    @Option(
        help: ArgumentHelp(
            "Without --count: end when the input has ended and the device has sent nothing for this long.",
            valueName: "S"))
    var quiet = Seconds(1)

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count must be at least 1, not \(count)") }
    }
}

/// The argument PSM: 1...65535, decimal or with `0x`.
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
    fileprivate func openChannel(_ psm: CBL2CAPPSM, at peripheral: Peripheral) async throws -> ByteChannel {
        try await step("opening the channel", orFail: "cannot open the channel \(psm)") {
            try await peripheral.openChannel(psm)
        }
    }

    /// Prints bytes unchanged, or in hex.
    func showReceived(_ data: Data) {
        if console.isJSON { console.show(["received": HexText.of(data)], []) } else { console.put(data) }
    }
}

/// A pipe between standard input and output and a device, like that of `nc`.
@MainActor
final class BytePipe {
    private let end: EndOptions
    private let limit: Duration
    private let show: (Data) -> Void
    private var count = 0
    private var lastActivity = ContinuousClock.now

    /// - Parameters:
    ///   - end: The condition for the end after the end of the input.
    ///   - limit: The longest permitted quiet time, if a count is given.
    ///   - show: Prints received bytes.
    init(_ end: EndOptions, limit: Duration, show: @escaping (Data) -> Void) {
        self.end = end
        self.limit = limit
        self.show = show
    }

    /// Sends standard input until it ends, then waits for the remaining bytes of the device.
    ///
    /// - Parameters:
    ///   - receive: Returns the next bytes of the device; nil at the end.
    ///   - send: Sends bytes to the device.
    /// - Throws: The error that ended it early.
    func run(
        receive: @escaping @Sendable () async throws -> Data?,
        send: @escaping @MainActor @Sendable (Data) async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.receiveAll(receive) }
            group.addTask {
                while let data = await StandardInput.shared.next() { try await send(data) }
                try Task.checkCancellation()
                try await self.waitForQuiet()
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private func receiveAll(_ receive: @Sendable () async throws -> Data?) async throws {
        while count < end.count ?? .max, let data = try await receive() {
            count += data.count
            lastActivity = .now
            show(data)
        }
    }

    /// Waits until nothing has arrived for long enough since the end of the input.
    private func waitForQuiet() async throws {
        let limit = end.count == nil ? end.quiet.duration : limit
        lastActivity = .now
        while case let end = lastActivity + limit, end > .now { try await Task.sleep(until: end, clock: .continuous) }
        if end.count != nil { throw Failure.timedOut(limit, "waiting for a value") }
    }
}
