import ArgumentParser
import CoreBluetoothPackage

/// `bluectl info`: a device in short.
struct InfoCommand: RadioCommand {
    static let configuration = CommandConfiguration(
        commandName: "info",
        abstract: "Connect and print what a device is: names, bond, link, services, Device Information, battery.")

    @Argument(help: DeviceArgument.help)
    var device: DeviceArgument

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    func perform(in session: Session) async throws {
        let peripheral = try await session.find(device.query)
        let known = try await session.knownDevices().first { $0.identifier == peripheral.identifier.uuidString }
        try await session.connect(peripheral)
        let services = try await session.discover(peripheral)
        var record = InfoRecord(peripheral, backend: session.emulatedBackend)
        record.isPaired = known?.isPaired ?? false
        record.services = services.map(\.uuid.uuidString)
        record.rssi = try await session.optional { try await session.readRSSI(of: peripheral) }
        let told = services.filter { ["180A", "180F"].contains($0.uuid.uuidString) }
        for characteristic in told.flatMap({ $0.characteristics ?? [] }) where characteristic.properties.contains(.read)
        {
            let value = try await session.optional { try await session.read(characteristic, of: peripheral) }
            guard let value else { continue }
            let text = AttributeText.meaning(of: value, of: characteristic.uuid)
            record.information[AttributeText.name(characteristic.uuid)] = text
        }
        session.console.clearProgress()
        if session.console.isJSON { return session.console.print(json: record) }
        for line in record.lines { session.console.print(line) }
    }
}

extension Session {
    /// What a device gives; nil where it refuses, while the link is up.
    fileprivate func optional<Value>(_ body: () async throws -> Value) async throws -> Value? {
        do {
            return try await body()
        } catch let failure as Failure where failure.status == .failed && isConnected {
            return nil
        }
    }
}
