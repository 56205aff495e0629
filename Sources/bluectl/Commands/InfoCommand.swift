import ArgumentParser
import AsyncBluetooth
import CoreBluetoothPackage

/// `bluectl info`: a device in short.
struct InfoCommand: BackendCommand {
    static let configuration = CommandConfiguration(
        commandName: "info",
        abstract: "Connect and print a summary: names, bond, link, services, Device Information, battery.")

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

/// A device in short, as JSON.
struct InfoRecord: Encodable, Equatable {
    let identifier: String
    let address: String?
    let name: String?
    var isPaired = false
    /// dBm.
    var rssi: Int?
    let mtu: Int
    /// The maximum number of bytes of a write without response.
    let maximumWriteLength: Int
    var services: [String] = []
    /// The values of Device Information and Battery, by the names of their characteristics.
    var information: [String: String] = [:]
    /// "emulator" where the device is emulated; else nil.
    let backend: String?

    /// One line for each.
    var lines: [String] {
        var lines = [("Name", name), ("Address", address), ("Identifier", identifier)].compactMap { title, value in
            value.map { (title, $0) }
        }
        lines.append(("Paired", isPaired ? "yes" : "no"))
        if let rssi { lines.append(("RSSI", "\(rssi) dBm")) }
        lines.append(("MTU", "\(mtu), writes of \(maximumWriteLength) without response"))
        lines.append(("Services", services.map { AttributeText.label($0) }.joined(separator: ", ")))
        lines += information.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        let width = lines.map { PrintableText.columns($0.0) }.max() ?? 0
        return lines.map { PrintableText.fitted($0, to: width) + "  " + PrintableText.of($1) }
    }
}

extension InfoRecord {
    /// The properties that need no request.
    init(_ peripheral: Peripheral, maximumWriteLength: Int, backend: String?) {
        identifier = peripheral.identifier.uuidString
        address = peripheral.address
        name = peripheral.name
        mtu = peripheral.mtuLength
        self.maximumWriteLength = maximumWriteLength
        self.backend = backend
    }
}
