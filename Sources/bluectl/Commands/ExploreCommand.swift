import ArgumentParser
import AsyncBluetooth
import CoreBluetoothPackage

/// `bluectl explore`: all that a device offers.
struct ExploreCommand: BackendCommand {
    static let configuration = CommandConfiguration(
        commandName: "explore",
        abstract: "Connect and print services, characteristics, descriptors and their values.",
        aliases: ["tree"])

    @Argument(help: DeviceArgument.help)
    var device: DeviceArgument

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    func perform(in role: CentralRole) async throws {
        let peripheral = try await role.find(device.query)
        try await role.connect(peripheral)
        let services = try await role.discover(peripheral)
        var records: [GATTRecord.Service] = []
        for service in services { records.append(try await role.record(of: service, at: peripheral)) }
        let record = GATTRecord(
            identifier: peripheral.identifier.uuidString, address: peripheral.address, name: peripheral.name,
            mtu: peripheral.mtuLength, services: records, backend: role.emulatedBackend)
        role.console.clearProgress()
        if role.console.isJSON { return role.console.print(json: record) }
        for line in GATTTree(palette: role.console.palette).lines(record) { role.console.print(line) }
    }
}

extension CentralRole {
    /// A service with the values that can be read.
    fileprivate func record(
        of service: DiscoveredService, at peripheral: Peripheral
    ) async throws -> GATTRecord.Service {
        var characteristics: [GATTRecord.Characteristic] = []
        for characteristic in service.characteristics {
            characteristics.append(try await record(of: characteristic, at: peripheral))
        }
        return GATTRecord.Service(
            uuid: service.uuid.uuidString, isPrimary: service.isPrimary, characteristics: characteristics)
    }

    private func record(
        of characteristic: DiscoveredCharacteristic, at peripheral: Peripheral
    ) async throws -> GATTRecord.Characteristic {
        console.progress("Reading \(AttributeText.label(characteristic.uuid))…")
        let descriptors = try await descriptors(of: characteristic, at: peripheral)
        var record = GATTRecord.Characteristic(
            uuid: characteristic.uuid.uuidString, handle: characteristic.handle.map { Int($0) },
            properties: AttributeText.properties(characteristic.properties), descriptors: [])
        if characteristic.properties.contains(.read) {
            (record.value, record.failure) = try await outcome(at: peripheral) {
                try await self.read(characteristic, of: peripheral)
            }
        }
        for descriptor in descriptors {
            var entry = GATTRecord.Descriptor(
                uuid: descriptor.uuid.uuidString, handle: descriptor.handle.map { Int($0) })
            (entry.value, entry.failure) = try await outcome(at: peripheral) {
                try await self.read(descriptor, of: peripheral)
            }
            record.descriptors.append(entry)
        }
        return record
    }

    /// A value in hex, or why the device does not give it.
    ///
    /// A link that is lost or silent ends the listing.
    private func outcome(
        at peripheral: Peripheral, _ body: () async throws -> Data
    ) async throws -> (value: String?, failure: String?) {
        do {
            return (HexText.of(try await body()), nil)
        } catch let failure as Failure where failure.status == .failed && peripheral.state == .connected {
            return (nil, failure.description)
        }
    }
}
