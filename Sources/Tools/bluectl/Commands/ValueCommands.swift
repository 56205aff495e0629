import ArgumentParser
import BluetoothValues
import CoreBluetoothClasses

struct ReadCommand: BackendCommand {
    static let configuration = CommandConfiguration(
        commandName: "read",
        abstract: "Read a characteristic or a descriptor.",
        usage: "bluectl read DEVICE [SERVICE] CHARACTERISTIC [--descriptor D]",
        discussion: AttributePath.help,
        aliases: ["get"])

    @Argument(help: DeviceQuery.help)
    var device: DeviceQuery

    @Argument(help: ArgumentHelp("[SERVICE] CHARACTERISTIC", valueName: "CHARACTERISTIC"))
    var path: [String] = []

    @Option(help: ArgumentHelp("Read this descriptor of the characteristic: 2901, a name, @HANDLE.", valueName: "D"))
    var descriptor: String?

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    func validate() throws {
        _ = try usage { () throws(Failure) in try AttributePath(path, of: device) }
        if let descriptor { _ = try usage { () throws(Failure) in try AttributeQuery(descriptor) } }
    }

    func perform(in role: CentralRole) async throws {
        let (peripheral, characteristic) = try await role.locate(try AttributePath(path, of: device), on: device)
        role.console.progress("Reading…")
        if let descriptor {
            let query = try AttributeQuery(descriptor)
            let descriptor = try await role.locate(query, of: characteristic, at: peripheral)
            let value = try await role.read(descriptor, of: peripheral)
            return role.show(value, of: descriptor, at: characteristic)
        }
        let value = try await role.read(characteristic, of: peripheral)
        role.show(value, of: characteristic)
    }
}

struct WriteCommand: BackendCommand {
    static let configuration = CommandConfiguration(
        commandName: "write",
        abstract: "Write a characteristic or a descriptor.",
        usage: """
            bluectl write DEVICE [SERVICE] CHARACTERISTIC HEX [--descriptor D] [--without-response]
            bluectl write DEVICE [SERVICE] CHARACTERISTIC --text S [--descriptor D] [--without-response]
            bluectl write DEVICE [SERVICE] CHARACTERISTIC --file FILE [--chunk N] [--without-response]
            """,
        discussion: """
            HEX is pairs of digits; spaces, ":", "-", "_", "." and "," may separate bytes, and "0x" may precede \
            them. SERVICE and CHARACTERISTIC are as for "read". A value has at most 512 bytes. The bytes of --file, \
            or of standard input ("-"), are written unchanged in as many writes as needed: of --chunk bytes each, or \
            of as many as one write carries.
            """,
        aliases: ["put"])

    /// The longest value of an attribute (Core Specification, Vol 3, Part F, 3.2.9).
    private static let maximumLength = ATTLimits.longestValue

    @Argument(help: DeviceQuery.help)
    var device: DeviceQuery

    @Argument(help: ArgumentHelp("[SERVICE] CHARACTERISTIC HEX", valueName: "CHARACTERISTIC HEX"))
    var words: [String] = []

    @Option(help: ArgumentHelp("Write this text in UTF-8 instead of HEX.", valueName: "S"))
    var text: String?

    @Option(
        help: ArgumentHelp(
            "Write the bytes of this file instead of HEX; \"-\" is standard input.", valueName: "FILE"),
        completion: .file())
    var file: String?

    @Option(help: ArgumentHelp("The number of bytes in each write of --file, 1...512.", valueName: "N"))
    var chunk: Int?

    @Option(help: ArgumentHelp("Write this descriptor of the characteristic: 2901, a name, @HANDLE.", valueName: "D"))
    var descriptor: String?

    @Flag(help: "Write without a response: faster, but the device does not confirm the write.")
    var withoutResponse = false

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    func validate() throws {
        if text != nil, file != nil { throw ValidationError("use either --text or --file") }
        if let chunk, file == nil || !(1...Self.maximumLength).contains(chunk) {
            throw ValidationError("--chunk must be in 1...\(Self.maximumLength), and needs --file")
        }
        if let descriptor {
            if file != nil || withoutResponse {
                throw ValidationError(
                    "a descriptor is written in one request with a response: omit --file and --without-response")
            }
            _ = try usage { () throws(Failure) in try AttributeQuery(descriptor) }
        }
        _ = try usage { () throws(Failure) in try request() }
    }

    /// Returns the target and the value; no value if a file contains it.
    func request() throws(Failure) -> (path: AttributePath, value: Data?) {
        if file != nil { return (try AttributePath(words, of: device), nil) }
        let value: Data
        if let text {
            value = Data(text.utf8)
        } else {
            // An example is "write 2A19 01".
            if words.count < 2, AttributePath.isPath(device) { throw AttributePath.missing(besides: device) }
            guard words.count >= 2, let hex = words.last else {
                throw Failure(
                    .usage, "expected CHARACTERISTIC HEX, CHARACTERISTIC --text S or CHARACTERISTIC --file FILE")
            }
            value = try HexText.data(hex)
        }
        guard value.count <= Self.maximumLength else {
            throw Failure(.usage, "\(value.count) bytes are too many: a value has at most \(Self.maximumLength)")
        }
        return (try AttributePath(text == nil ? words.dropLast() : words, of: device), value)
    }

    func perform(in role: CentralRole) async throws {
        let (path, value) = try request()
        // The file is opened first, so that a mistake is reported before the device is used.
        let source = try file.map { file throws(Failure) in try ByteSource(file) }
        let (peripheral, characteristic) = try await role.locate(path, on: device)
        if let descriptor, let value {
            let query = try AttributeQuery(descriptor)
            let descriptor = try await role.locate(query, of: characteristic, at: peripheral)
            try await role.write(value, to: descriptor, of: peripheral)
            return role.show(value, of: descriptor, at: characteristic)
        }
        let type: CBCharacteristicWriteType = withoutResponse ? .withoutResponse : .withResponse
        // A write command to a characteristic without the property would be dropped silently.
        guard !withoutResponse || characteristic.properties.contains(.writeWithoutResponse) else {
            throw Failure(
                .failed, "\(AttributeText.label(characteristic.uuid)) cannot be written without response")
        }
        role.console.progress("Writing…")
        if let value {
            try await role.write(value, to: characteristic, of: peripheral, type: type)
            return role.show(value, of: characteristic)
        }
        guard let source else { return }
        let longest = try await role.maximumWriteLength(of: peripheral, for: type)
        let length = chunk ?? min(Self.maximumLength, longest)
        var written = (bytes: 0, writes: 0)
        while let piece = try await source.next(length) {
            try await role.write(piece, to: characteristic, of: peripheral, type: type)
            written = (written.bytes + piece.count, written.writes + 1)
            role.console.progress("Writing… \(written.bytes) bytes")
            if role.console.isJSON { role.show(piece, of: characteristic) }
        }
        guard !role.console.isJSON else { return }
        role.console.print(
            "\(AttributeText.label(characteristic.uuid)): \(written.bytes) bytes in \(written.writes) writes")
    }
}
