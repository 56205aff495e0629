import ArgumentParser
import AsyncBluetooth
import CoreBluetoothClasses

struct InfoCommand: BackendCommand {
    static let configuration = CommandConfiguration(
        commandName: "info",
        abstract: "Connect and print a summary: names, bond, link, services, Device Information, battery.")

    @Argument(help: DeviceQuery.help)
    var device: DeviceQuery

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    func perform(in role: CentralRole) async throws {
        let peripheral = try await role.find(device)
        let known = try await role.knownDevices().first { $0.device.identifier == peripheral.identifier }
        try await role.connect(peripheral)
        let services = try await role.discover(peripheral)
        let length = try await role.maximumWriteLength(of: peripheral, for: .withoutResponse)
        let rssi = try await role.whereAllowed(by: peripheral) { try await role.readRSSI(of: peripheral) }
        let information = try await information(of: services, at: peripheral, in: role)
        let isPaired = known?.isPaired ?? false
        var lines = [
            ("Name", peripheral.name), ("Address", peripheral.address),
            ("Identifier", peripheral.identifier.uuidString), ("Paired", isPaired ? "yes" : "no"),
            ("RSSI", rssi.map { "\($0) dBm" }),
            ("MTU", "\(peripheral.mtuLength), writes of \(length) without response"),
            ("Services", services.map { AttributeText.label($0.uuid) }.joined(separator: ", ")),
        ].compactMap { title, value in value.map { (title, $0) } }
        lines += information.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        let width = lines.map { PrintableText.columns($0.0) }.max() ?? 0
        let own: JSONFields = [
            "isPaired": isPaired, "rssi": rssi, "mtu": peripheral.mtuLength, "maximumWriteLength": length,
            "services": services.map(\.uuid.uuidString), "information": information,
        ]
        role.console.show(
            DeviceRecord(peripheral).identity.merging(own),
            lines.map { PrintableText.fitted($0, to: width) + "  " + PrintableText.of($1) })
    }

    /// Returns the readable values of Device Information and Battery, by the names of their characteristics.
    @MainActor
    private func information(
        of services: [DiscoveredService], at peripheral: Peripheral, in role: CentralRole
    ) async throws -> [String: String] {
        let described = services.filter { ["180A", "180F"].contains($0.uuid.uuidString) }
        var information: [String: String] = [:]
        for characteristic in described.flatMap(\.characteristics) where characteristic.properties.contains(.read) {
            let value = try await role.whereAllowed(by: peripheral) {
                try await role.read(characteristic, of: peripheral)
            }
            information[AttributeText.name(characteristic.uuid)] = value.map {
                AttributeText.meaning(of: $0, of: characteristic.uuid)
            }
        }
        return information
    }
}
