import BluetoothBackend
import BluetoothEmulator
import CoreBluetooth
import Foundation

/// What was saved for later managers, by restore identifier.
struct RestorationTables {
    var centrals: [String: SavedCentral] = [:]
    var peripherals: [String: SavedPeripheral] = [:]
    /// What clients saved themselves, as JSON.
    var documents: [String: Data] = [:]
}

/// The state of a central manager.
struct SavedCentral {
    let identifier: UUID
    let hostName: String
    let state: RestoredCentralState

    init(_ central: EmulatedCBCentralManager, scan: ScanParameters?) {
        identifier = central.identifier
        hostName = central.place.host.name
        let wanted = central.peripherals.filter { [.connected, .connecting].contains($0.core.state) }
        let peers = wanted.enumerated().map { index, peripheral in
            RestoredCentralState.Peer(
                summary: PeerSummary(id: PeerID(peripheral.core.identifier), name: peripheral.name),
                operation: OperationID(rawValue: UInt64(index + 1)))
        }
        state = RestoredCentralState(peers: peers, scan: scan)
    }

    /// Keeps the links up while there is no manager.
    func holdLinks(on host: EmulatedHost, in world: EmulatedWorld) {
        for device in devices(on: host, in: world) { host.connectOtherApp(to: device) }
    }

    /// The manager has the links.
    func releaseLinks(on host: EmulatedHost, in world: EmulatedWorld) {
        for device in devices(on: host, in: world) { host.disconnectOtherApp(from: device) }
    }

    private func devices(on host: EmulatedHost, in world: EmulatedWorld) -> [EmulatedDevice] {
        state.peers.compactMap { world.device(knownAs: $0.summary.id.uuid, onHost: host.name) }
    }
}

/// The state of a peripheral manager.
struct SavedPeripheral {
    let identifier: UUID
    let hostName: String
    /// Copies, so that later changes count for nothing.
    let services: [EmulatedCBMutableService]
    let advertisement: EmulatedAdvertisement?
    let state: RestoredPeripheralState

    init(_ peripheral: EmulatedCBPeripheralManager) {
        identifier = peripheral.identifier
        hostName = peripheral.place.host.name
        let (originals, cores) = peripheral.fields.withLock { ($0.published.services, $0.published.cores) }
        let copies = originals.map { $0.copy() }
        for (original, copy) in zip(originals, copies) {
            copy.includedServices = original.includedServices?.compactMap { included in
                originals.firstIndex { $0 === included }.map { copies[$0] }
            }
        }
        services = copies
        let advertisement = peripheral.isAdvertising ? peripheral.advertisement : nil
        self.advertisement = advertisement
        state = RestoredPeripheralState(
            services: ServiceDefinition.definitions(of: cores), advertisement: advertisement?.radioAdvertisement)
    }
}

extension EmulatedCBMutableService {
    /// A service like this one, without what it includes.
    fileprivate func copy() -> EmulatedCBMutableService {
        let service = EmulatedCBMutableService(type: uuid, primary: isPrimary)
        service.characteristics = mutableCharacteristics.map { original in
            let characteristic = EmulatedCBMutableCharacteristic(
                type: original.uuid, properties: original.properties, value: original.value,
                permissions: original.permissions)
            if original.descriptors != nil {
                characteristic.descriptors = original.mutableDescriptors.map {
                    EmulatedCBMutableDescriptor(type: $0.uuid, value: $0.value, permissions: $0.permissions)
                }
            }
            return characteristic
        }
        return service
    }
}

extension ServiceDefinition {
    /// The definitions of services of the module, which have no static values.
    fileprivate static func definitions(of services: [CBMutableService]) -> [ServiceDefinition] {
        var last: UInt32 = 0
        func next() -> AttributeID {
            last += 1
            return AttributeID(rawValue: last)
        }
        var identifiers: [ObjectIdentifier: AttributeID] = [:]
        return services.map { service in
            let definition = ServiceDefinition(
                id: next(), uuid: service.uuid.backendUUID, isPrimary: service.isPrimary,
                included: (service.includedServices ?? []).compactMap { identifiers[ObjectIdentifier($0)] },
                characteristics: (service.characteristics ?? []).compactMap { $0 as? CBMutableCharacteristic }.map {
                    Characteristic($0, next)
                })
            identifiers[ObjectIdentifier(service)] = definition.id
            return definition
        }
    }
}

extension ServiceDefinition.Characteristic {
    fileprivate init(_ characteristic: CBMutableCharacteristic, _ next: () -> AttributeID) {
        self.init(
            id: next(), uuid: characteristic.uuid.backendUUID,
            properties: CharacteristicProperties(
                rawValue: UInt16(truncatingIfNeeded: characteristic.properties.rawValue)),
            permissions: AttributePermissions(
                rawValue: UInt8(truncatingIfNeeded: characteristic.permissions.rawValue)),
            descriptors: (characteristic.descriptors ?? []).map { descriptor in
                let value = descriptor.value as? Data ?? Data((descriptor.value as? String ?? "").utf8)
                return ServiceDefinition.Descriptor(id: next(), uuid: descriptor.uuid.backendUUID, value: value)
            })
    }
}

extension EmulatedAdvertisement {
    /// Name and services as the radio takes them.
    fileprivate var radioAdvertisement: Advertisement {
        let services = data[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID] ?? []
        return Advertisement(
            localName: localName, serviceUUIDs: services.isEmpty ? nil : services.map(\.backendUUID),
            isConnectable: true)
    }
}
