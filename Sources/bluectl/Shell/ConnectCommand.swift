import ArgumentParser
import CoreBluetoothPackage

/// `connect`: in a shell alone, as nothing else has connections that last.
struct ConnectCommand: RadioCommand {
    static let configuration = CommandConfiguration(
        commandName: "connect", abstract: "Connect to a device, and stay connected.")

    @Argument(help: DeviceArgument.help)
    var device: DeviceArgument

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    func perform(in session: Session) async throws {
        let peripheral = try await session.find(device.query)
        try await session.connect(peripheral)
        // So that the names of its characteristics complete.
        _ = try await session.discover(peripheral)
        session.show(ConnectionRecord("connected", peripheral, backend: session.emulatedBackend))
    }
}
