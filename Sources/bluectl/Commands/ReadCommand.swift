import ArgumentParser

/// `bluectl read`: one value.
struct ReadCommand: RadioCommand {
    static let configuration = CommandConfiguration(
        commandName: "read",
        abstract: "Read a characteristic.",
        usage: "bluectl read DEVICE [SERVICE] CHARACTERISTIC",
        discussion: """
            SERVICE may be left out where the characteristic is the only one of its UUID. 2A37#2 means the second \
            of equal UUIDs, @HANDLE the one with that handle (@18 or @0x0012).
            """,
        aliases: ["get"])

    @Argument(help: DeviceArgument.help)
    var device: DeviceArgument

    @Argument(help: ArgumentHelp("[SERVICE] CHARACTERISTIC", valueName: "CHARACTERISTIC"))
    var path: [String]

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    func validate() throws { _ = try usage { () throws(Failure) in try AttributePath(path) } }

    func perform(in session: Session) async throws {
        let (peripheral, characteristic) = try await session.locate(try AttributePath(path), on: device.query)
        session.console.progress("Reading…")
        let value = try await session.read(characteristic, of: peripheral)
        session.show(value, of: characteristic)
    }
}
