import ArgumentParser
import CoreBluetoothPackage

/// `bluectl write`: one value.
struct WriteCommand: RadioCommand {
    static let configuration = CommandConfiguration(
        commandName: "write",
        abstract: "Write a characteristic.",
        usage: """
            bluectl write DEVICE [SERVICE] CHARACTERISTIC HEX [--without-response]
            bluectl write DEVICE [SERVICE] CHARACTERISTIC --text S [--without-response]
            """,
        discussion: """
            HEX is pairs of digits; spaces, ":", "-", "_", "." and "," may stand between bytes, "0x" in front. \
            SERVICE and CHARACTERISTIC are as for "read". A value has at most 512 bytes.
            """,
        aliases: ["put"])

    /// The longest value of an attribute (Core Specification, Vol 3, Part F, 3.2.9).
    private static let maximumLength = 512

    @Argument(help: DeviceArgument.help)
    var device: DeviceArgument

    @Argument(help: ArgumentHelp("[SERVICE] CHARACTERISTIC HEX", valueName: "CHARACTERISTIC HEX"))
    var words: [String]

    @Option(help: ArgumentHelp("Write this text in UTF-8, in place of HEX.", valueName: "S"))
    var text: String?

    @Flag(help: "Write without a response: faster, and the device does not say whether it took the value.")
    var withoutResponse = false

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    func validate() throws { _ = try usage { () throws(Failure) in try request() } }

    /// What to write, and where to.
    func request() throws(Failure) -> (path: AttributePath, value: Data) {
        let value: Data
        if let text {
            value = Data(text.utf8)
        } else {
            guard words.count >= 2, let hex = words.last else {
                throw Failure(.usage, "expected CHARACTERISTIC HEX, or CHARACTERISTIC --text S")
            }
            value = try HexText.data(hex)
        }
        guard value.count <= Self.maximumLength else {
            throw Failure(.usage, "\(value.count) bytes are too long: a value has at most \(Self.maximumLength)")
        }
        return (try AttributePath(text == nil ? words.dropLast() : words), value)
    }

    func perform(in session: Session) async throws {
        let (path, value) = try request()
        let (peripheral, characteristic) = try await session.locate(path, on: device.query)
        let type: CBCharacteristicWriteType = withoutResponse ? .withoutResponse : .withResponse
        // A command to a characteristic that takes none would vanish without an answer.
        guard !withoutResponse || characteristic.properties.contains(.writeWithoutResponse) else {
            throw Failure(
                .failed, "\(AttributeText.label(characteristic.uuid)) cannot be written without response")
        }
        session.console.progress("Writing…")
        try await session.write(value, to: characteristic, of: peripheral, type: type)
        session.show(value, of: characteristic)
    }
}
