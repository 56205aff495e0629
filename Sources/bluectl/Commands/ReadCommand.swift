import ArgumentParser

/// `bluectl read`: one value.
struct ReadCommand: BackendCommand {
    static let configuration = CommandConfiguration(
        commandName: "read",
        abstract: "Read a characteristic or a descriptor.",
        usage: "bluectl read DEVICE [SERVICE] CHARACTERISTIC [--descriptor D]",
        discussion: AttributePath.help,
        aliases: ["get"])

    @Argument(help: DeviceArgument.help)
    var device: DeviceArgument

    @Argument(help: ArgumentHelp("[SERVICE] CHARACTERISTIC", valueName: "CHARACTERISTIC"))
    var path: [String]

    @Option(help: ArgumentHelp("Read this descriptor of the characteristic: 2901, a name, @HANDLE.", valueName: "D"))
    var descriptor: String?

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    func validate() throws {
        _ = try usage { () throws(Failure) in try AttributePath(path) }
        if let descriptor { _ = try usage { () throws(Failure) in try AttributeQuery(descriptor) } }
    }

    func perform(in role: CentralRole) async throws {
        let (peripheral, characteristic) = try await role.locate(try AttributePath(path), on: device.query)
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
