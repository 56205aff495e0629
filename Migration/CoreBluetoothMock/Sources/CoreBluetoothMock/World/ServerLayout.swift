import BluetoothBackend
import BluetoothEmulator
import CoreBluetooth

/// The server's objects of a peripheral, by their position in the emulated device.
///
/// Included services precede the service that includes them. The services 1800 and 1801, which every device has and no
/// app sees, are omitted.
struct ServerLayout {
    private struct Characteristic {
        let mock: CBMCharacteristicMock
        /// The descriptors without 2902, which the emulator creates.
        let descriptors: [CBMDescriptorMock]
    }

    private struct Service {
        let mock: CBMServiceMock
        let isPrimary: Bool
        let characteristics: [Characteristic]
    }

    /// The services by number; nil for a removed one.
    private var services: [Service?] = []

    /// The services, in the order in which the device received them.
    var mocks: [CBMServiceMock] { services.compactMap { $0?.mock } }

    /// The services that a discovery of services returns.
    var primaries: [CBMServiceMock] { services.compactMap { $0?.isPrimary == true ? $0?.mock : nil } }

    // MARK: Changes

    /// Adds services that are not present yet.
    ///
    /// - Returns: The descriptions of the new ones, in the order of their numbers.
    mutating func add(_ added: [CBMServiceMock]) -> [ServiceDescription] {
        var descriptions: [ServiceDescription] = []
        for service in added { add(service, among: added, to: &descriptions) }
        return descriptions
    }

    private mutating func add(
        _ service: CBMServiceMock, among added: [CBMServiceMock], to descriptions: inout [ServiceDescription]
    ) {
        guard number(of: service) == nil, !Self.system.contains(service.uuid) else { return }
        for included in service.includedMocks { add(included, among: added, to: &descriptions) }
        let new = Service(
            mock: service, isPrimary: service.isPrimary && added.contains { $0 === service },
            characteristics: service.mocks.map { mock in
                Characteristic(mock: mock, descriptors: mock.mocks.filter { !$0.isClientConfiguration })
            })
        descriptions.append(description(of: new))
        services.append(new)
    }

    /// Removes the services that are neither in a list nor included by one in it.
    ///
    /// - Returns: The numbers of the removed services.
    mutating func keepOnly(_ kept: [CBMServiceMock]) -> [Int] {
        var wanted: Set<ObjectIdentifier> = []
        func want(_ service: CBMServiceMock) {
            guard wanted.insert(ObjectIdentifier(service)).inserted else { return }
            service.includedMocks.forEach(want)
        }
        kept.forEach(want)
        let gone = services.indices.filter { index in
            services[index].map { !wanted.contains(ObjectIdentifier($0.mock)) } ?? false
        }
        // Services that include others are removed before them.
        for index in gone { services[index] = nil }
        return gone.reversed()
    }

    // MARK: Places

    private func number(of service: CBMServiceMock) -> Int? { services.firstIndex { $0?.mock === service } }

    /// Returns the position of a characteristic; the first one if it has several.
    func position(of characteristic: CBMCharacteristicMock) -> AttributePosition? {
        for (number, service) in services.enumerated() {
            if let index = service?.characteristics.firstIndex(where: { $0.mock === characteristic }) {
                return AttributePosition(service: number, characteristic: index)
            }
        }
        return nil
    }

    /// Returns the service at a position.
    func service(at position: AttributePosition) -> CBMServiceMock? { entry(at: position)?.mock }

    /// Returns the characteristic at a position.
    func characteristic(at position: AttributePosition) -> CBMCharacteristicMock? {
        characteristicEntry(at: position)?.mock
    }

    /// Returns the descriptor at a position.
    func descriptor(at position: AttributePosition) -> CBMDescriptorMock? {
        guard let index = position.descriptor, let descriptors = characteristicEntry(at: position)?.descriptors,
            descriptors.indices.contains(index)
        else { return nil }
        return descriptors[index]
    }

    private func entry(at position: AttributePosition) -> Service? {
        services.indices.contains(position.service) ? services[position.service] : nil
    }

    private func characteristicEntry(at position: AttributePosition) -> Characteristic? {
        guard let index = position.characteristic, let characteristics = entry(at: position)?.characteristics,
            characteristics.indices.contains(index)
        else { return nil }
        return characteristics[index]
    }

    // MARK: Descriptions

    private static let system = [CBMUUID(string: "1800"), CBMUUID(string: "1801")]

    private func description(of service: Service) -> ServiceDescription {
        ServiceDescription(
            BluetoothUUID(service.mock.uuid), isPrimary: service.isPrimary,
            includes: service.mock.includedMocks.compactMap(path(of:)),
            characteristics: service.characteristics.map(Self.description(of:)))
    }

    /// Returns the path with which a description names a present service.
    private func path(of service: CBMServiceMock) -> ServicePath? {
        let equals = mocks.filter { $0.uuid == service.uuid }
        return equals.firstIndex { $0 === service }.map { ServicePath(BluetoothUUID(service.uuid), index: $0) }
    }

    private static func description(of characteristic: Characteristic) -> CharacteristicDescription {
        CharacteristicDescription(
            BluetoothUUID(characteristic.mock.uuid), CharacteristicProperties(characteristic.mock.properties),
            value: (characteristic.mock.value ?? Data()).prefix(512),
            descriptors: characteristic.descriptors.map {
                DescriptorDescription(BluetoothUUID($0.uuid), value: Data(), permissions: [.readable, .writeable])
            })
    }
}
