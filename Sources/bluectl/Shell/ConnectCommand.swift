import ArgumentParser

/// `connect`: in a shell alone, as nothing else has connections that last.
struct ConnectCommand: BackendCommand {
    static let configuration = CommandConfiguration(
        commandName: "connect", abstract: "Connect to a device, and stay connected.")

    @Argument(help: DeviceArgument.help)
    var device: DeviceArgument

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    func perform(in role: CentralRole) async throws {
        let peripheral = try await role.find(device.query)
        try await role.connect(peripheral)
        // So that the names of its characteristics complete.
        _ = try await role.discover(peripheral)
        role.show(ConnectionRecord("connected", peripheral, backend: role.emulatedBackend))
    }
}
