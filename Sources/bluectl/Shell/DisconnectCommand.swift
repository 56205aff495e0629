import ArgumentParser
import CoreBluetoothPackage

/// `disconnect`: in a shell alone.
struct DisconnectCommand: RadioCommand {
    static let configuration = CommandConfiguration(
        commandName: "disconnect", abstract: "Give the connection to a device up; without DEVICE, all of them.")

    @Argument(help: DeviceArgument.help)
    var device: DeviceArgument?

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    func perform(in session: Session) async throws {
        let connected = session.peripherals.filter { $0.state == .connected }
        let meant = connected.filter { peripheral in
            guard let query = device?.query else { return true }
            return query == .last ? peripheral === session.peripheral : query.matches(DeviceRecord(peripheral))
        }
        if let device, meant.isEmpty { throw Failure(.failed, "there is no connection to \(device.query.text)") }
        for peripheral in meant {
            try await session.disconnect(peripheral)
            session.show(ConnectionRecord("disconnected", peripheral, backend: session.emulatedBackend))
        }
    }
}
