import BluetoothBackend
import BluetoothEmulator
import CoreBluetooth

/// The services that a central has discovered at a peripheral manager, in the emulator's terms.
///
/// They are empty for another device of the world, whose database the module does not have.
struct KnownServices {
    private(set) var services: [RestoredCentralState.Service] = []
    /// Whether the central subscribed to each characteristic, by service.
    private(set) var notifying: [[Bool]] = []

    init(of peripheral: EmulatedCBPeripheral) {
        guard let server = peripheral.server, let device = server.place.host.peripheral else { return }
        for service in peripheral.core.services ?? [] {
            guard let served = peripheral.serverService(of: service),
                let number = server.fields.withLock({ $0.published.number(of: served) }),
                let id = device.attribute(at: AttributePosition(service: number))
            else { continue }
            var known = RestoredCentralState.Service(
                record: ServiceRecord(id: id, uuid: service.uuid.backendUUID, isPrimary: service.isPrimary))
            notifying.append([])
            for characteristic in service.characteristics ?? [] {
                guard let index = Self.index(of: characteristic, in: served, peripheral),
                    let id = device.attribute(at: AttributePosition(service: number, characteristic: index))
                else { continue }
                known.characteristics.append(
                    CharacteristicRecord(
                        id: id, uuid: characteristic.uuid.backendUUID,
                        properties: CharacteristicProperties(
                            rawValue: UInt16(truncatingIfNeeded: characteristic.properties.rawValue))))
                notifying[services.count].append(characteristic.isNotifying)
            }
            services.append(known)
        }
    }

    private static func index(
        of found: CBCharacteristic, in service: EmulatedCBMutableService, _ peripheral: EmulatedCBPeripheral
    ) -> Int? {
        let served = peripheral.serverCharacteristic(of: found)
        return service.mutableCharacteristics.firstIndex { $0 === served }
    }
}
