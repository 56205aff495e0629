import CoreBluetoothPackage

/// A central of the same process that visits a device that is served: it finds it, subscribes, reads and writes.
///
/// For the emulator, whose air ends with the process, so that nobody else can come.
@MainActor
struct Visitor {
    private let session: Session
    private let device: Device

    /// What the visitor knows of the device.
    struct Device {
        /// What it advertises.
        let name: String?
        let advertisedServices: [CBUUID]
        /// What it has published.
        let services: [CBUUID]
        /// What comes each so often while somebody subscribes.
        let periodic: Set<CBUUID>
        /// Whether also what cannot be read is written: nothing, as there is nothing to write back.
        let writesUnread: Bool
    }

    /// A visitor that stops when the host is interrupted.
    init(of device: Device, host: PeripheralSession) {
        let session = Session(host.radio, console: host.console, limit: host.limit)
        host.steps.onInterruption = { session.steps.interrupt() }
        self.session = session
        self.device = device
    }

    /// Does all that the characteristics allow, and leaves.
    func visit() async throws {
        do {
            try await session.awaitPower()
            let peripheral = try await find()
            try await session.connect(peripheral)
            for service in try await session.discover(peripheral) where device.services.contains(service.uuid) {
                for characteristic in service.characteristics ?? [] { try await use(characteristic, of: peripheral) }
            }
            await session.close()
        } catch {
            await session.close()
            throw error
        }
    }

    /// Ends the visit where it is.
    func stop() { session.steps.interrupt() }

    private func find() async throws -> CBPeripheral {
        var found: CBPeripheral?
        session.onDiscovery = { [session] peripheral, record in
            guard found == nil, isMeant(record) else { return }
            found = peripheral
            session.answer(.discovery)
        }
        defer {
            session.onDiscovery = nil
            session.stopScan()
        }
        try await session.perform(.discovery) { session.startScan() }
        guard let found else { throw Failure(.failed, "the visitor does not find the device") }
        return found
    }

    /// By name, which may be shortened, or else by service.
    private func isMeant(_ record: DeviceRecord) -> Bool {
        guard let name = device.name else {
            return device.advertisedServices.first.map { record.services.contains($0.uuidString) } ?? false
        }
        return record.advertisedName.map { !$0.isEmpty && name.hasPrefix($0) } ?? false
    }

    private func use(_ characteristic: CBCharacteristic, of peripheral: CBPeripheral) async throws {
        let properties = characteristic.properties
        if !properties.isDisjoint(with: [.notify, .indicate]) { try await subscribe(to: characteristic) }
        if properties.contains(.read) { _ = try await session.read(characteristic, of: peripheral) }
        guard device.writesUnread || properties.contains(.read) else { return }
        let value = characteristic.value ?? Data()
        if properties.contains(.write) {
            try await session.write(value, to: characteristic, of: peripheral, type: .withResponse)
        } else if properties.contains(.writeWithoutResponse) {
            try await session.write(value, to: characteristic, of: peripheral, type: .withoutResponse)
        }
    }

    /// Waits for a value where the device sends one by itself.
    private func subscribe(to characteristic: CBCharacteristic) async throws {
        guard device.periodic.contains(characteristic.uuid) else {
            return try await session.subscribe(to: characteristic)
        }
        try await session.values(of: characteristic, count: 1) { _ in }
    }
}
