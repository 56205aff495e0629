import ArgumentParser
import AsyncBluetooth
import CoreBluetoothPackage

/// `bluectl info`: a device in short.
struct InfoCommand: BackendCommand {
    static let configuration = CommandConfiguration(
        commandName: "info",
        abstract: "Connect and print what a device is: names, bond, link, services, Device Information, battery.")

    @Argument(help: DeviceArgument.help)
    var device: DeviceArgument

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    func perform(in role: CentralRole) async throws {
        let peripheral = try await role.find(device.query)
        let known = try await role.knownDevices().first { $0.identifier == peripheral.identifier.uuidString }
        try await role.connect(peripheral)
        let services = try await role.discover(peripheral)
        var record = InfoRecord(
            peripheral, maximumWriteLength: try await role.maximumWriteLength(of: peripheral, for: .withoutResponse),
            backend: role.emulatedBackend)
        record.isPaired = known?.isPaired ?? false
        record.services = services.map(\.uuid.uuidString)
        record.rssi = try await role.whereAllowed(by: peripheral) { try await role.readRSSI(of: peripheral) }
        let told = services.filter { ["180A", "180F"].contains($0.uuid.uuidString) }
        for characteristic in told.flatMap(\.characteristics) where characteristic.properties.contains(.read) {
            let value = try await role.whereAllowed(by: peripheral) {
                try await role.read(characteristic, of: peripheral)
            }
            guard let value else { continue }
            let text = AttributeText.meaning(of: value, of: characteristic.uuid)
            record.information[AttributeText.name(characteristic.uuid)] = text
        }
        role.console.clearProgress()
        if role.console.isJSON { return role.console.print(json: record) }
        for line in record.lines { role.console.print(line) }
    }
}
