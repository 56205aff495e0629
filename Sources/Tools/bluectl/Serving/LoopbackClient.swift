import AsyncBluetooth
import CoreBluetoothClasses

/// A central of the same process that visits a served device: it finds the device, subscribes, reads and writes.
///
/// For the emulator, which no other process can reach.
@MainActor
final class LoopbackClient {
    private let role: CentralRole
    private let device: Device
    private(set) var isOver = false

    struct Device {
        let name: String?
        let advertisedServices: [CBUUID]
        let services: [CBUUID]
        /// The characteristics that are notified periodically while a central subscribes.
        let periodic: Set<CBUUID>
        /// Whether unreadable characteristics are also written, with an empty value, as no value was read.
        let writesUnread: Bool
    }

    init(of device: Device, host: PeripheralRole) {
        role = CentralRole(host.backend, console: host.console, limit: host.limit)
        self.device = device
    }

    /// Performs every operation that the characteristics allow, and leaves.
    func visit() async throws {
        do {
            try await use()
        } catch {
            await close()
            throw error
        }
        await close()
    }

    /// Ends the subscriptions and the link, in a new task, because this one may have been cancelled.
    private func close() async {
        await Task { await role.close() }.value
        isOver = true
    }

    private func use() async throws {
        try await role.waitUntilPoweredOn()
        let peripheral = try await find()
        try await role.connect(peripheral)
        for service in try await role.discover(peripheral) where device.services.contains(service.uuid) {
            for characteristic in service.characteristics { try await use(characteristic, of: peripheral) }
        }
    }

    private func find() async throws -> Peripheral {
        let central = role.central
        return try await role.step("looking for the device") {
            for try await report in central.scan() where self.isMeant(DeviceRecord(report)) { return report.peripheral }
            throw CancellationError()
        }
    }

    /// Whether it is the device: by its name, which may be shortened, or by its services.
    private func isMeant(_ record: DeviceRecord) -> Bool {
        guard let name = device.name else {
            return device.advertisedServices.first.map { record.services.contains($0.uuidString) } ?? false
        }
        return record.advertisedName.map { !$0.isEmpty && name.hasPrefix($0) } ?? false
    }

    private func use(_ characteristic: DiscoveredCharacteristic, of peripheral: Peripheral) async throws {
        let properties = characteristic.properties
        if !properties.isDisjoint(with: [.notify, .indicate]) {
            try await subscribe(to: characteristic, of: peripheral)
        }
        var value = Data()
        if properties.contains(.read) {
            value = try await role.read(characteristic, of: peripheral)
        } else if !device.writesUnread {
            return
        }
        if properties.contains(.write) {
            try await role.write(value, to: characteristic, of: peripheral, type: .withResponse)
        } else if properties.contains(.writeWithoutResponse) {
            try await role.write(value, to: characteristic, of: peripheral, type: .withoutResponse)
        }
    }

    /// Waits for a value if the device sends one by itself.
    private func subscribe(to characteristic: DiscoveredCharacteristic, of peripheral: Peripheral) async throws {
        guard device.periodic.contains(characteristic.uuid) else {
            _ = try await role.subscribe(to: [characteristic], of: peripheral)
            return
        }
        try await role.values(of: [characteristic], at: peripheral, count: 1) { _, _ in }
    }
}
