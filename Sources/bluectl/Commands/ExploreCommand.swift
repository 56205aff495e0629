import ArgumentParser
import CoreBluetoothPackage

/// `bluectl explore`: all that a device offers.
struct ExploreCommand: RadioCommand {
    static let configuration = CommandConfiguration(
        commandName: "explore",
        abstract: "Connect and print services, characteristics, descriptors and their values.",
        aliases: ["tree"])

    @Argument(help: DeviceArgument.help)
    var device: DeviceArgument

    @OptionGroup(title: "Common options")
    var global: GlobalOptions

    func perform(in session: Session) async throws {
        let peripheral = try await session.find(device.query)
        try await session.connect(peripheral)
        let services = try await session.discover(peripheral)
        var records: [GATTRecord.Service] = []
        for service in services { records.append(try await session.record(of: service, at: peripheral)) }
        let record = GATTRecord(
            identifier: peripheral.identifier.uuidString, address: peripheral.address, name: peripheral.name,
            mtu: peripheral.mtuLength, services: records, backend: session.emulatedBackend)
        session.console.clearProgress()
        if session.console.isJSON { return session.console.print(json: record) }
        for line in GATTTree(palette: session.console.palette).lines(record) { session.console.print(line) }
    }
}

extension Session {
    /// A service with the values that can be read.
    fileprivate func record(of service: CBService, at peripheral: CBPeripheral) async throws -> GATTRecord.Service {
        var characteristics: [GATTRecord.Characteristic] = []
        for characteristic in service.characteristics ?? [] {
            characteristics.append(try await record(of: characteristic, at: peripheral))
        }
        return GATTRecord.Service(
            uuid: service.uuid.uuidString, isPrimary: service.isPrimary, characteristics: characteristics)
    }

    private func record(
        of characteristic: CBCharacteristic, at peripheral: CBPeripheral
    ) async throws -> GATTRecord.Characteristic {
        console.progress("Reading \(AttributeText.label(characteristic.uuid))…")
        try await perform(.descriptors(ObjectIdentifier(characteristic))) {
            peripheral.discoverDescriptors(for: characteristic)
        }
        var record = GATTRecord.Characteristic(
            uuid: characteristic.uuid.uuidString, handle: characteristic.handle.map { Int($0) },
            properties: AttributeText.properties(characteristic.properties), descriptors: [])
        if characteristic.properties.contains(.read) {
            (record.value, record.failure) = try await outcome {
                try await self.read(characteristic, of: peripheral)
            }
        }
        for descriptor in characteristic.descriptors ?? [] {
            var entry = GATTRecord.Descriptor(
                uuid: descriptor.uuid.uuidString, handle: descriptor.handle.map { Int($0) })
            (entry.value, entry.failure) = try await outcome { try await self.read(descriptor, of: peripheral) }
            record.descriptors.append(entry)
        }
        return record
    }

    /// A value in hex, or why the device does not give it.
    ///
    /// A link that is lost or silent ends the listing.
    private func outcome(_ body: () async throws -> Data) async throws -> (value: String?, failure: String?) {
        do {
            return (HexText.of(try await body()), nil)
        } catch let failure as Failure where failure.status == .failed && isConnected {
            return (nil, failure.description)
        }
    }
}
