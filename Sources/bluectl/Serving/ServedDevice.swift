#if Emulator
import BluetoothBackend
import BluetoothEmulator
import CoreBluetoothPackage

/// A device of a world file as objects that a peripheral manager publishes.
@MainActor
final class ServedDevice {
    let name: String
    /// In the order in which they are published: what is included comes before.
    let services: [CBMutableService]
    let characteristics: [StoredCharacteristic]
    let channels: [ChannelDescription]
    /// What is advertised; nil where the file has no advertising set that is on.
    let advertised: AdvertisedContent?

    init(_ description: PeripheralDescription) {
        name = description.name
        channels = description.channels
        var services: [CBMutableService] = []
        var characteristics: [StoredCharacteristic] = []
        for service in description.services {
            let own = service.characteristics.map { StoredCharacteristic($0) }
            let object = CBMutableService(type: CBUUID(service.uuid), primary: service.isPrimary)
            object.characteristics = own.map(\.object)
            // The file's rules say that each names an earlier service.
            let included = service.includes.compactMap { uuid in services.first { $0.uuid == CBUUID(uuid) } }
            if !included.isEmpty { object.includedServices = included }
            services.append(object)
            characteristics += own
        }
        self.services = services
        self.characteristics = characteristics
        advertised = description.advertising.first(where: \.isEnabled).map { set in
            let data = set.data.serviceData.merging(set.scanResponse?.serviceData ?? [:]) { own, _ in own }
            return AdvertisedContent(
                name: set.data.localName ?? set.scanResponse?.localName,
                services: (set.data.services + (set.scanResponse?.services ?? [])).map { CBUUID($0) },
                manufacturerData: set.data.manufacturerData ?? set.scanResponse?.manufacturerData,
                serviceData: Dictionary(data.map { (CBUUID($0.key), $0.value) }) { $1 })
        }
    }

    /// Whether a central must encrypt the link, and so pair, for something that is served.
    var needsEncryption: Bool {
        characteristics.contains { served in
            !served.object.permissions.isDisjoint(with: [.readEncryptionRequired, .writeEncryptionRequired])
                || !served.object.properties.isDisjoint(with: [.notifyEncryptionRequired, .indicateEncryptionRequired])
        } || channels.contains(where: \.isEncryptionRequired)
    }

    /// For a client.
    var visited: LoopbackClient.Device {
        LoopbackClient.Device(
            name: advertised?.name, advertisedServices: advertised?.services ?? [], services: services.map(\.uuid),
            periodic: Set(characteristics.filter { $0.description.timer != nil }.map(\.object.uuid)),
            writesUnread: true)
    }

    /// What stands behind an object.
    func served(_ characteristic: CBCharacteristic) -> StoredCharacteristic? {
        characteristics.first { $0.object === characteristic }
    }
}
#endif
