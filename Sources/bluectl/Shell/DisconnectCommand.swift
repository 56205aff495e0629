import ArgumentParser
import AsyncBluetooth
import CoreBluetoothPackage

/// `disconnect`: in a shell alone.
struct DisconnectCommand: BackendCommand {
    static let configuration = CommandConfiguration(
        commandName: "disconnect", abstract: "Give the connection to a device up; without DEVICE, all of them.")

    @Argument(help: DeviceArgument.help)
    var device: DeviceArgument?

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    func perform(in role: CentralRole) async throws {
        let connected = role.peripherals.filter { $0.state == .connected }
        let meant = connected.filter { peripheral in
            guard let query = device?.query else { return true }
            return query == .last ? peripheral === role.peripheral : query.matches(DeviceRecord(peripheral))
        }
        if let device, meant.isEmpty { throw Failure(.failed, "there is no connection to \(device.query.text)") }
        for peripheral in meant {
            try await role.disconnect(peripheral)
            role.show(ConnectionRecord("disconnected", peripheral, backend: role.emulatedBackend))
        }
    }
}
