import BluetoothBackend
import BluetoothEmulator
import CoreBluetooth

extension MockWorld {
    /// Preserves the state that ``CBMPeripheralManagerMock/simulateStateRestoration`` returns, for a peripheral manager
    /// that is about to be created.
    ///
    /// - Returns: The services that are restored, in order.
    func preparePeripheralRestoration(_ options: [String: Any]?) -> [CBMMutableService] {
        guard let identifier = options?[CBMPeripheralManagerOptionRestoreIdentifierKey] as? String,
            let state = SimulationClosures.current.peripheralRestoration?(identifier)
        else { return [] }
        let services = state[CBMPeripheralManagerRestoredStateServicesKey] as? [CBMMutableService] ?? []
        let data = state[CBMPeripheralManagerRestoredStateAdvertisementDataKey] as? [String: Any]
        var numbers = AttributeNumbers()
        let definitions = services.map { ServiceDefinition($0, &numbers) }
        let advertisement = data.map { data in
            Advertisement(
                localName: data[CBMAdvertisementDataLocalNameKey] as? String,
                serviceUUIDs: (data[CBMAdvertisementDataServiceUUIDsKey] as? [CBMUUID])?.map { BluetoothUUID($0) })
        }
        emulator?.host.setRestoredState(
            RestoredPeripheralState(services: definitions, advertisement: advertisement), for: identifier)
        return services
    }
}

/// The numbers of a restored state's attributes.
private struct AttributeNumbers {
    private var last: UInt32 = 0
    private var services: [ObjectIdentifier: AttributeID] = [:]

    mutating func next() -> AttributeID {
        last += 1
        return AttributeID(rawValue: last)
    }

    mutating func next(for service: CBMService) -> AttributeID {
        let id = next()
        services[ObjectIdentifier(service)] = id
        return id
    }

    func id(of service: CBMService) -> AttributeID? { services[ObjectIdentifier(service)] }
}

extension ServiceDefinition {
    fileprivate init(_ service: CBMMutableService, _ numbers: inout AttributeNumbers) {
        let included = (service.includedServices ?? []).compactMap { [numbers] in numbers.id(of: $0) }
        let id = numbers.next(for: service)
        self.init(
            id: id, uuid: BluetoothUUID(service.uuid), isPrimary: service.isPrimary, included: included,
            characteristics: service.mutables.map { characteristic in
                Characteristic(
                    id: numbers.next(), uuid: BluetoothUUID(characteristic.uuid),
                    properties: CharacteristicProperties(characteristic.properties),
                    permissions: AttributePermissions(characteristic.permissions),
                    staticValue: characteristic.value,
                    descriptors: (characteristic.descriptors ?? []).compactMap { descriptor in
                        descriptor.bytes.map {
                            Descriptor(id: numbers.next(), uuid: BluetoothUUID(descriptor.uuid), value: $0)
                        }
                    })
            })
    }
}

extension CBMDescriptor {
    /// The value on the air; nil for a descriptor that an app cannot publish.
    fileprivate var bytes: Data? {
        switch value {
        case let text as String: Data(text.utf8)
        case let data as Data: data
        default: nil
        }
    }
}
